import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { dieAtEach, recover } from '#test/faults/die-at-each.ts'
import { appFigures } from '#testkit/app-figures.ts'
import { json } from '#testkit/receiver.ts'
import { usingReceiver } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { subscriber } from '#testkit/webhooks.ts'
import { whileWorking } from '#testkit/while-working.ts'

const platform = usingPlatform({ RESPONSE_MODE: 'stream' })
const agent = usingReceiver()

const DONE = json({ status: 'succeeded', output: { text: 'Hello' } })

beforeEach(() => {
  platform.clock.advance(3_600_000)
  platform.messages.splice(0)
  agent.requests.length = 0
  agent.answer(DONE)
})

afterEach(() => vi.restoreAllMocks())

type Subscriber = Awaited<ReturnType<typeof subscriber>>

const waited = (app: Subscriber, headers: Record<string, string> = {}) =>
  app.call('POST', '/runs?wait=30', { input: { name: 'Ada' } }, headers)

const typesIn = async (app: Subscriber) => (await app.feed()).map(({ type }) => type)

const counted = async ({ app }: Subscriber) => {
  const { runs, succeeded } = await appFigures(platform.deps, app.id)
  return { runs, succeeded }
}

const queues = () => platform.messages.map(({ queue }) => queue)

const isDue = async () => (await platform.deps.table.due(platform.clock.now() + 365 * 86_400_000, 100)).length > 0

describe('a run that a request waits for', () => {
  it('reaches its agent in the request, without a worker, and leaves one message, which brings both events in order', async () => {
    const app = await subscriber(platform, { endpoint: agent.url })
    const { status, body } = await waited(app)
    expect([status, body.status, body.output]).toEqual([201, 'succeeded', { text: 'Hello' }])
    expect(agent.requests).toHaveLength(1)
    expect(platform.outbox).toEqual([])
    expect(queues()).toEqual(['fanout'])
    await platform.deliver(platform.messages.splice(0)[0] as never)
    expect(await typesIn(app)).toEqual(['run.created', 'run.succeeded'])
    await platform.drain()
    expect(await counted(app)).toEqual({ runs: 1, succeeded: 1 })
    expect(await isDue()).toBe(false)
  })

  it('is left to the dispatcher if the wait doesn’t cover the time that an agent has', async () => {
    const app = await subscriber(platform, { endpoint: agent.url })
    const { body } = await app.call('POST', '/runs?wait=1', { input: {} })
    expect([body.status, queues()]).toEqual(['queued', ['dispatch']])
    expect(agent.requests).toEqual([])
    await platform.drain()
  })

  it('is created as sent, so that its start and its claim are one write of the run', async () => {
    const app = await subscriber(platform, { endpoint: agent.url })
    const { table } = platform.deps
    const transact = vi.spyOn(table, 'transact')
    const change = vi.spyOn(table, 'change')
    const before: number[] = []
    agent.answer(async ({ body }) => {
      const written = [
        ...transact.mock.calls.flatMap(([writes]) => writes),
        ...change.mock.calls.map(([write]) => write),
      ]
      before.push(written.filter(({ entity }) => entity.name === 'run').length)
      const { status, started_at } = (await app.call('GET', `/runs/${JSON.parse(String(body)).run.id}`)).body
      expect([status, started_at]).toEqual(['running', expect.any(String)])
      return DONE
    })
    await waited(app)
    expect(before).toEqual([1])
    await platform.drain()
    const [created] = await app.feed()
    expect(created).toMatchObject({ type: 'run.created', data: { status: 'queued' } })
  })

  it.each([
    { maxAttempts: undefined, is: 'failed' as const },
    { maxAttempts: 2, is: 'sent again by the dispatcher' as const },
  ])('is $is, as after a dead dispatcher, when the request dies before its call', async ({ maxAttempts }) => {
    let unsent = 0
    await dieAtEach(platform, { limit: 12, stride: 1 }, async (n, dying) => {
      const app = await subscriber(platform, { endpoint: agent.url, maxAttempts })
      agent.requests.length = 0
      await dying(() => waited(app))
      const [run] = (await app.call('GET', '/runs')).body.items
      const wasSent = agent.requests.length > 0
      await recover(platform, 60_000, 4)
      if (!run || wasSent) return
      unsent++
      expect(run.status, `a death at call ${n}`).toBe('running')
      const { status, error_code } = (await app.call('GET', `/runs/${run.id}`)).body
      const attempts = agent.requests.map(({ body }) => JSON.parse(String(body)).attempt)
      expect([status, error_code, attempts], `a death at call ${n}`).toEqual(
        maxAttempts === undefined ? ['failed', 'agent_unreachable', []] : ['succeeded', null, [2]],
      )
    })
    expect(unsent).toBeGreaterThan(0)
  })

  it('is announced after a second, while its agent works', async () => {
    const app = await subscriber(platform, { endpoint: agent.url })
    agent.answer(async () => {
      while (queues().length === 0) await pause(20)
      await platform.deliver(platform.messages.splice(0)[0] as never)
      expect(await typesIn(app)).toEqual(['run.created'])
      return DONE
    })
    expect((await waited(app)).body.status).toBe('succeeded')
    await platform.drain()
    expect(await typesIn(app)).toEqual(['run.created', 'run.succeeded'])
    expect(await counted(app)).toEqual({ runs: 1, succeeded: 1 })
  })

  it('answers soon after somebody ends the run, and drops the agent’s request', async () => {
    const app = await subscriber(platform, { endpoint: agent.url })
    const arrived = Promise.withResolvers<string>()
    agent.answer(({ body }) => {
      arrived.resolve(JSON.parse(String(body)).run.id)
      return { kind: 'hang' }
    })
    const waiting = waited(app)
    await app.call('POST', `/runs/${await arrived.promise}/cancel`)
    const { body } = await waiting
    expect(body.status).toBe('cancelled')
    await platform.drain()
    expect(await typesIn(app)).toEqual(['run.created', 'run.cancelled'])
    expect(await isDue()).toBe(false)
  })

  it('is followed by reading after a 202', async () => {
    const app = await subscriber(platform, { endpoint: agent.url })
    agent.answer(async ({ body }) => {
      const { id } = JSON.parse(String(body)).run
      setTimeout(() => app.call('POST', `/runs/${id}/complete`, { status: 'succeeded', output: { late: true } }), 100)
      return { kind: 'answer', status: 202 }
    })
    expect((await waited(app)).body).toMatchObject({ status: 'succeeded', output: { late: true } })
    await platform.drain()
    expect(await typesIn(app)).toEqual(['run.created', 'run.succeeded'])
  })

  it('keeps the agent’s request to its end when the run stops for a person', async () => {
    const app = await subscriber(platform, {
      endpoint: agent.url,
      resume: true,
    })
    agent.answer(
      json({
        status: 'input_required',
        input_requests: {
          name: { message: 'Who?', schema: { type: 'object', properties: { n: { type: 'string' } } } },
        },
      }),
    )
    const { body } = await waited(app)
    expect(body.status).toBe('running')
    expect(body.steps).toMatchObject([{ type: 'input_request' }])
    await platform.drain()
    await app.call('POST', `/runs/${body.id}/cancel`)
  })

  it('is sent again by the dispatcher, after a pause, if its agent turned it away', async () => {
    const app = await subscriber(platform, {
      endpoint: agent.url,
      maxAttempts: 2,
    })
    agent.answer(() => {
      agent.answer(DONE)
      return { kind: 'answer', status: 503 }
    })
    const waiting = waited(app)
    while (queues().length === 0) await pause(5)
    platform.clock.advance(5_000)
    const { body } = await whileWorking(platform, waiting)
    expect([body.status, agent.requests.length]).toEqual(['succeeded', 2])
    await platform.drain()
    expect(await typesIn(app)).toEqual(['run.created', 'run.succeeded'])
  })

  it('is never called twice, and loses, doubles and miscounts no event, when the request dies at any point', async () => {
    await dieAtEach(platform, { limit: 60, stride: 4, least: 8 }, async (n, dying) => {
      const app = await subscriber(platform, { endpoint: agent.url })
      agent.requests.length = 0
      await dying(() => waited(app))
      // After a lost dispatch or answer, the sweeper looks again within 45 seconds, and the fan-out within 45 more.
      await recover(platform, 60_000, 4)
      const types = await typesIn(app)
      const at = `a death at call ${n}`
      expect(agent.requests.length, at).toBeLessThanOrEqual(1)
      const ended = types[1]
      expect(types, at).toEqual(types.length === 0 ? [] : ['run.created', ended])
      const isGood = ended === 'run.succeeded'
      expect(await counted(app), at).toEqual({ runs: types.length / 2, succeeded: isGood ? 1 : 0 })
      expect(await isDue(), at).toBe(false)
      expect((await app.call('GET', '/runs?status=running')).body.items, at).toEqual([])
    })
  })

  it('gives a repeat the answer of a request that died at any point, from one call', async () => {
    const app = await subscriber(platform, { endpoint: agent.url })
    await dieAtEach(platform, { limit: 60, stride: 5, least: 5 }, async (n, dying) => {
      agent.requests.length = 0
      const key = { 'idempotency-key': `died-${n}` }
      await dying(() => waited(app, key))
      // The lock of the request that died expires.
      platform.clock.advance(181_000)
      await platform.sweep()
      const { status, body } = await whileWorking(platform, waited(app, key))
      expect([status, agent.requests.length <= 1], `a death at call ${n}`).toEqual([201, true])
      expect(['succeeded', 'failed'], `a death at call ${n}`).toContain(body.status)
    })
  })
})
