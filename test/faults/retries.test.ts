import { describe, expect, it } from 'vitest'
import { SECOND } from '#shared/kernel/clock.ts'
import { RunEntity } from '#shared/work/runs/entity.ts'
import { callbackToken, installed } from '#testkit/fixtures.ts'
import type { Answer } from '#testkit/receiver.ts'
import { usingReceiver } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { dieAtEach, recover } from './die-at-each.ts'

const platform = usingPlatform()
const agent = usingReceiver()

const succeeded: Answer = { kind: 'answer', status: 200, body: JSON.stringify({ status: 'succeeded', output: {} }) }
const status = (code: number, headers: Record<string, string> = {}): Answer => ({
  kind: 'answer',
  status: code,
  headers,
})

/** Installs an agent with `runtime.retry` and starts a run that isn't dispatched yet. */
const started = async (maxAttempts: number | undefined, options: { resume?: boolean } = {}) => {
  agent.requests.length = 0
  const app = await installed(platform.deps, { endpoint: agent.url, ...(maxAttempts && { maxAttempts }), ...options })
  const { body } = await platform.call('POST', '/api/v1/runs', { token: app.token, body: {} })
  const key = { installation_id: app.installation.id, id: body.id as string }
  const run = async () => {
    const found = await platform.deps.table.get(RunEntity, key)
    if (!found) throw new Error('no run')
    return found
  }
  return { app, run, id: key.id }
}

/** Lets this time pass in steps of a second, with the messages that become due. */
const pass = async (seconds: number) => {
  for (let n = 0; n < seconds; n++) {
    platform.clock.advance(SECOND)
    await platform.drain()
  }
}

const bodies = () => agent.requests.map(({ body }) => JSON.parse(body.toString()))
const attempts = () => bodies().map(({ attempt }) => attempt)

describe('a manifest with runtime.retry', () => {
  it.each([
    ['502', [status(502)]],
    ['503 and 504', [status(503), status(504)]],
    ['429 with Retry-After', [status(429, { 'retry-after': '5' })]],
  ])('has a run sent again after %s, as the same message with a count', async (_what, failures) => {
    agent.next(...failures)
    agent.answer(succeeded)
    const { run, id } = await started(3)
    await platform.drain()
    expect(await run()).toMatchObject({ status: 'running', due_at: (await run()).retry_at })
    await pass(20)
    expect(await run()).toMatchObject({ status: 'succeeded' })
    expect(attempts()).toEqual([1, ...failures.map((_, n) => n + 2)])
    expect(new Set(bodies().map(({ run: { id } }) => id))).toEqual(new Set([id]))
    expect(new Set(agent.requests.map(({ headers }) => headers['webhook-id']))).toEqual(new Set([id]))
    expect((await run()).retry_at).toBeUndefined()
  })

  it('waits for as long as Retry-After says, as seconds or as a date', async () => {
    const inAMinute = () => new Date(Math.ceil(platform.clock.now() / SECOND) * SECOND + 60_000).toUTCString()
    for (const value of [() => '60', inAMinute]) {
      agent.next(status(429, { 'retry-after': value() }))
      agent.answer(succeeded)
      const { run } = await started(2)
      await platform.drain()
      await pass(50)
      expect([attempts(), (await run()).status]).toEqual([[1], 'running'])
      await pass(15)
      expect([attempts(), (await run()).status]).toEqual([[1, 2], 'succeeded'])
    }
  })

  it('counts no connection as an attempt, and the last one fails the run', async () => {
    const { run } = await started(2)
    const { send } = platform.deps.http
    let calls = 0
    platform.deps.http.send = async () => {
      calls++
      const text = { message: 'Refused.', hint: '' }
      return { kind: 'failure', phase: 'connect', sent: false, durationMs: 1, ...text }
    }
    try {
      await platform.drain()
      await pass(10)
    } finally {
      platform.deps.http.send = send
    }
    expect(calls).toBe(2)
    expect(await run()).toMatchObject({
      status: 'failed',
      error_code: 'agent_unreachable',
      error_message: 'Refused. The run was sent 2 times.',
    })
  })

  it.each([
    ['500', status(500)],
    ['429 without Retry-After', status(429)],
    ['429 with a Retry-After of an hour', status(429, { 'retry-after': '3600' })],
    ['401', status(401)],
    ['a connection that closes after the request', { kind: 'reset', when: 'before' } as const],
    ['an answer that isn’t JSON', { kind: 'answer', status: 200, body: 'hm' } as const],
  ])('doesn’t have a run sent again after %s', async (_what, answer) => {
    agent.next(answer)
    agent.answer(succeeded)
    const { run } = await started(5)
    await platform.drain()
    await pass(5)
    expect([(await run()).status, agent.requests.length]).toEqual(['failed', 1])
  })

  it('has a run sent again whose worker died during the call, and one whose next message is lost', async () => {
    agent.answer(succeeded)
    const { run } = await started(2)
    await platform.deps.bus.put(platform.outbox.splice(0))
    const { send } = platform.deps.http
    platform.deps.http.send = async (request) => {
      await send.call(platform.deps.http, request)
      throw new Error('the worker dies')
    }
    const [message] = platform.messages.splice(0).filter(({ queue }) => queue === 'dispatch')
    if (!message) throw new Error('no message')
    await platform.deliver(message).catch(() => {})
    platform.deps.http.send = send
    expect(await run()).toMatchObject({ status: 'running' })
    platform.clock.advance(50_000)
    await platform.sweep()
    platform.clock.advance(50_000)
    await platform.sweep()
    expect(platform.messages.some(({ queue }) => queue === 'dispatch')).toBe(true)
    platform.messages.length = 0
    platform.clock.advance(61_000)
    await platform.sweep()
    await platform.drain()
    expect([attempts(), (await run()).status]).toEqual([[1, 2], 'succeeded'])
  })

  it('leaves a run alone whose worker died, but whose agent showed life', async () => {
    agent.answer(succeeded)
    const { app, run, id } = await started(2)
    await platform.deps.bus.put(platform.outbox.splice(0))
    const { send } = platform.deps.http
    platform.deps.http.send = async () => {
      throw new Error('the worker dies')
    }
    for (const message of platform.messages.splice(0)) await platform.deliver(message).catch(() => {})
    platform.deps.http.send = send
    platform.clock.advance(5_000)
    const token = await callbackToken(platform.deps, app, id)
    await platform.call('POST', `/api/v1/runs/${id}/steps`, { token, body: { type: 'note' } })
    for (let n = 0; n < 3; n++) {
      platform.clock.advance(50_000)
      await platform.sweep()
      await platform.drain()
    }
    expect([(await run()).status, agent.requests.length]).toEqual(['running', 0])
  })

  it('sends a decision again with the same content and webhook-id', async () => {
    agent.next(status(202))
    const { app, run, id } = await started(3, { resume: true })
    await platform.drain()
    const token = await callbackToken(platform.deps, app, id)
    const args = { arguments: { url: agent.url } }
    const asked = await platform.call('POST', '/api/v1/tools/http_fetch/invoke', { token, body: args })
    agent.next(status(503))
    agent.answer(succeeded)
    await platform.call('POST', `/console/runs/${id}/steps/${asked.body.step_id}/decision`, {
      token: app.person.token,
      body: { decision: 'reject' },
    })
    await platform.drain()
    await pass(5)
    const [first, second, third] = bodies()
    expect([first.attempt, second.attempt, third.attempt]).toEqual([1, 1, 2])
    expect(second.resume).toMatchObject({ step_id: asked.body.step_id, decision: 'rejected' })
    expect(third.resume).toEqual(second.resume)
    expect(agent.requests.map(({ headers }) => headers['webhook-id'])).toEqual([
      id,
      asked.body.step_id,
      asked.body.step_id,
    ])
    expect((await run()).status).toBe('succeeded')
  })

  it('sends answers again with the same content', async () => {
    agent.next(
      {
        kind: 'answer',
        body: JSON.stringify({ status: 'input_required', input_requests: { name: { message: 'Who?' } } }),
      },
      status(502),
    )
    agent.answer(succeeded)
    const { app, run, id } = await started(2, { resume: true })
    await platform.drain()
    await platform.call('POST', `/console/runs/${id}/input`, {
      token: app.person.token,
      body: { responses: { name: { action: 'accept', content: { text: 'Ada' } } } },
    })
    await platform.drain()
    await pass(5)
    const [, second, third] = bodies()
    expect(second.resume.input).toEqual({ name: { action: 'accept', content: { text: 'Ada' } } })
    expect([third.resume, third.attempt]).toEqual([second.resume, 2])
    expect((await run()).status).toBe('succeeded')
  })

  it('sends nothing again to a cancelled run, and the first answer of all attempts wins', async () => {
    agent.next(status(503))
    agent.answer(succeeded)
    const { app, run, id } = await started(5)
    await platform.drain()
    await platform.call('POST', `/api/v1/runs/${id}/cancel`, { token: app.token })
    await pass(5)
    await platform.sweep()
    await platform.drain()
    expect([(await run()).status, agent.requests.length]).toEqual(['cancelled', 1])

    agent.next(status(504))
    const late = await started(5)
    await platform.drain()
    const token = await callbackToken(platform.deps, late.app, late.id)
    const body = { status: 'succeeded', output: { from: 'the first attempt' } }
    expect((await platform.call('POST', `/api/v1/runs/${late.id}/complete`, { token, body })).status).toBe(200)
    await pass(5)
    expect([(await late.run()).status, agent.requests.length]).toEqual(['succeeded', 1])
  })

  it('ends within the run’s time', async () => {
    agent.next(status(503))
    agent.answer(succeeded)
    const { run } = await started(5)
    await platform.deps.table.transact([
      RunEntity.update(await run(), { set: { ends_at: platform.clock.now() + 1_000 } }),
    ])
    await platform.drain()
    expect([(await run()).status, agent.requests.length]).toEqual(['failed', 1])
  })

  it('makes up for a worker that dies at any point, with at most one attempt more for each', async () => {
    await dieAtEach(platform, { limit: 40, stride: 2, counted: 'effects' }, async (_n, dying) => {
      platform.clock.advance(7_200_000)
      agent.answer(succeeded)
      const { run } = await started(5)
      await platform.deps.bus.put(platform.outbox.splice(0))
      const due = platform.messages.splice(0)
      await dying(...due.map((message) => () => platform.deliver(message)))
      for (const message of due) await platform.deliver(message)
      await platform.drain()
      await recover(platform, 60_000, 4)
      expect((await run()).status).toBe('succeeded')
      expect(agent.requests.length).toBeLessThanOrEqual(2)
    })
  })
})

it('a manifest without runtime.retry has a run sent once', async () => {
  agent.next(status(503))
  agent.answer(succeeded)
  const { run } = await started(undefined)
  await platform.drain()
  await pass(5)
  expect([(await run()).status, agent.requests.length]).toEqual(['failed', 1])
})
