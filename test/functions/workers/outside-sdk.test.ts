import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dieAtEach, recover } from '#test/faults/die-at-each.ts'
import { killAfter } from '#testkit/faults.ts'
import { activeRuns } from '#testkit/fixtures.ts'
import { startReceiver } from '#testkit/receiver.ts'
import { DEEP, sampleOf } from '#testkit/sampling.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { installOutside } from './outside-support.ts'

/** Where the agents' push notifications arrive: it hands them to the platform, which has no address of its own. */
const relay = await startReceiver()
const platform = usingPlatform({ BASE_URL: relay.url })
let notifications = 0
beforeAll(() =>
  relay.answer(async ({ method, path: to, headers, body }) => {
    notifications++
    const token = String(headers['x-a2a-notification-token'])
    const { status } = await platform.call(method as 'POST', to, {
      headers: { 'x-a2a-notification-token': token, 'content-type': 'application/json' },
      body: JSON.parse(body.toString()),
    })
    return { kind: 'answer', status }
  }),
)
afterAll(() => relay.close())
let server: ChildProcess
let base = ''

beforeAll(async () => {
  const file = path.join(import.meta.dirname, 'outside-servers.mjs')
  server = spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'ignore'] })
  const [port] = await once(server.stdout as NonNullable<typeof server.stdout>, 'data')
  // The SDKs report each notification there, and failed ones as errors.
  server.stdout?.resume()
  base = `http://127.0.0.1:${String(port).trim()}`
})
afterAll(() => server.kill())

const started = async (version: string): Promise<number> => {
  const counts = (await (await fetch(`${base}/counts`)).json()) as { current: number; legacy: number }
  return version === '1.0' ? counts.current : counts.legacy
}

/** Lets time pass until the run is in a state, or ended. */
const pass = async (seconds: number) => {
  for (let passed = 0; passed < seconds; passed += 5) {
    platform.clock.advance(5_000)
    // The agents are another process, with a clock of its own.
    await pause(25)
    await platform.sweep()
    await platform.drain()
  }
}

describe.each([
  ['1.0', 'rpc'],
  ['1.0', 'rest'],
  ['0.3', 'rpc'],
  ['0.3', 'rest'],
])('an agent on the official SDK, version %s over %s', (version, at) => {
  const scene = async () => {
    const app = await installOutside(platform, `${base}/${version}/${at}`, { cardPath: '/.well-known/agent-card.json' })
    const start = async (text: string) => {
      const { body } = await platform.call('POST', '/api/v1/runs', { token: app.token, body: { input: { text } } })
      await platform.drain()
      return body.id as string
    }
    const read = async (id: string) => (await platform.call('GET', `/api/v1/runs/${id}`, { token: app.token })).body
    return { app, start, read }
  }

  it('gives its result', async () => {
    const { start, read } = await scene()
    const id = await start('go')
    await pass(10)
    expect(await read(id)).toMatchObject({
      status: 'succeeded',
      output: { text: 'Done.', artifacts: [{ name: 'Answer', parts: [{ text: 'Twelve.' }] }] },
    })
  })

  it('asks, and continues with the answer', async () => {
    const { app, start, read } = await scene()
    const id = await start('ask')
    await pass(10)
    const answer = await platform.call('POST', `/console/runs/${id}/input`, {
      token: app.person.token,
      body: { responses: { question_1: { action: 'accept', content: { text: 'the red one' } } } },
    })
    expect(answer.status).toBe(200)
    await platform.drain()
    await pass(15)
    expect(await read(id)).toMatchObject({ status: 'succeeded', output: { text: 'You said the red one.' } })
  })

  it('fails, and is cancelled', async () => {
    const { app, start, read } = await scene()
    const failing = await start('fail')
    const staying = await start('stay')
    await pass(10)
    expect(await read(failing)).toMatchObject({
      status: 'failed',
      error_code: 'agent_failed',
      error_message: 'It broke.',
    })
    await platform.call('POST', `/console/runs/${staying}/cancel`, { token: app.person.token })
    await pass(60)
    const task = await platform.deps.table.get((await import('#shared/agents/outside/entity.ts')).OutsideTaskEntity, {
      run_id: staying,
    })
    expect(task).toMatchObject({ is_over: true, cancels: 0 })
  })

  it('has one task when the worker dies right after its message went out', async () => {
    const { app, read } = await scene()
    const before = await started(version)
    const { body } = await platform.call('POST', '/api/v1/runs', { token: app.token, body: { input: { text: 'go' } } })
    await platform.deps.bus.put(platform.outbox.splice(0))
    const due = platform.messages.splice(0).filter(({ queue }) => queue === 'dispatch')
    const death = killAfter(platform, 1, 'requests')
    for (const message of due) await platform.deliver(message)
    expect(death.restore()).toBe(true)
    for (const message of due) await platform.deliver(message)
    await pass(120)
    expect(await read(body.id)).toMatchObject({ status: 'failed', error_code: 'agent_unreachable' })
    expect(await started(version)).toBe(before + 1)
  })
})

const SDKS = [
  ['1.0', 'rpc', false],
  ['1.0', 'rest-pushing', true],
  ['0.3', 'rest', false],
  ['0.3', 'rpc-pushing', true],
] as const

describe.each(sampleOf(SDKS, 2))(
  'a worker that dies at any point of a run of the official SDK %s over %s',
  (version, at, pushes) => {
    it('leaves one task there and one result here', async () => {
      const before = notifications
      const deaths = { limit: DEEP ? 200 : 40, counted: DEEP ? 'calls' : 'effects', least: 3 } as const
      await dieAtEach(platform, deaths, async (n, dying) => {
        platform.clock.advance(7_200_000)
        await platform.drain()
        const cardPath = '/.well-known/agent-card.json'
        const app = await installOutside(platform, `${base}/${version}/${at}`, { cardPath })
        const tasks = await started(version)
        const { body } = await platform.call('POST', '/api/v1/runs', {
          token: app.token,
          body: { input: { text: 'go' } },
        })
        await platform.deps.bus.put(platform.outbox.splice(0))
        const failed: typeof platform.messages = []
        await dying(async (made) => {
          for (let round = 0; round < 6 && made() < n; round++) {
            for (const message of platform.messages.splice(0)) {
              if (!(await platform.deliver(message))) failed.push(message)
            }
            // The agent works for 20 ms, then notifies.
            await pause(40)
            if (made() < n) await platform.deps.bus.put(platform.outbox.splice(0)).catch(() => {})
            platform.clock.advance(10_000)
          }
        })
        // The queue delivers what wasn't handled again.
        platform.messages.push(...failed)
        await pass(120)
        await recover(platform, 60_000, 13)
        const { status, error_code } = (await platform.call('GET', `/api/v1/runs/${body.id}`, { token: app.token }))
          .body
        // Nobody knows whether an answer that got lost was seen, so that its message isn't sent again.
        expect([status, error_code], `killed after ${n}`).toBeOneOf([
          ['succeeded', null],
          ['failed', 'agent_unreachable'],
        ])
        const events = (await platform.call('GET', '/api/v1/events?limit=100', { token: app.token })).body.items
        const ends = events.filter(({ type }: { type: string }) => type === 'run.succeeded' || type === 'run.failed')
        expect(ends).toHaveLength(1)
        expect((await started(version)) - tasks).toBeLessThanOrEqual(1)
        if (status === 'succeeded') expect((await started(version)) - tasks).toBe(1)
        expect(await activeRuns(platform.deps, app)).toBe(0)
      })
      if (pushes) expect(notifications).toBeGreaterThan(before)
      else expect(notifications).toBe(before)
    })
  },
)
