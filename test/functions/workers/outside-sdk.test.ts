import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { killAfter } from '#testkit/faults.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { installOutside } from './outside-support.ts'

const platform = usingPlatform()
let server: ChildProcess
let base = ''

beforeAll(async () => {
  const file = path.join(import.meta.dirname, 'outside-servers.mjs')
  server = spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [port] = await once(server.stdout as NonNullable<typeof server.stdout>, 'data')
  base = `http://127.0.0.1:${String(port).trim()}`
}, 30_000)
afterAll(() => server.kill())

const started = async (version: string): Promise<number> => {
  const counts = (await (await fetch(`${base}/counts`)).json()) as { current: number; legacy: number }
  return version === '1.0' ? counts.current : counts.legacy
}

/** Lets time pass until the run is in a state, or ended. */
const pass = async (seconds: number) => {
  for (let passed = 0; passed < seconds; passed += 5) {
    platform.clock.advance(5_000)
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

  it('asks, and goes on with the answer', async () => {
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
    // The claim, then the message.
    const death = killAfter(platform, 2)
    for (const message of due) await platform.deliver(message)
    expect(death.restore()).toBe(true)
    for (const message of due) await platform.deliver(message)
    await pass(120)
    expect(await read(body.id)).toMatchObject({ status: 'failed', error_code: 'agent_unreachable' })
    expect(await started(version)).toBe(before + 1)
  })
})
