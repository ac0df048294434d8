import { expect, it } from 'vitest'
import { AppTotalEntity, STATS_SHARDS } from '#shared/insight/statistics/entity.ts'
import { killAfter } from '#testkit/faults.ts'
import { deathsAt } from '#testkit/sampling.ts'
import { usingReceiver } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { subscriber } from '#testkit/webhooks.ts'

const platform = usingPlatform()
const agent = usingReceiver()
const receiver = usingReceiver()

const succeeded = { kind: 'answer', status: 200, body: JSON.stringify({ status: 'succeeded', output: {} }) } as const

type Subscriber = Awaited<ReturnType<typeof subscriber>>

/** Runs, begun and succeeded, that the app's statistics count. */
const counted = async ({ app }: Subscriber) => {
  const shards = Array.from({ length: STATS_SHARDS }, (_, shard) =>
    platform.deps.table.get(AppTotalEntity, { app_id: app.id, shard, block: 'live' }),
  )
  const found = await Promise.all(shards)
  const sum = (of: 'runs' | 'succeeded') => found.reduce((all, shard) => all + (shard?.[of] ?? 0), 0)
  return { runs: sum('runs'), succeeded: sum('succeeded') }
}

const start = async (app: Subscriber) => {
  const { status, body } = await app.call('POST', '/runs', {})
  expect(status).toBe(201)
  return body
}

const recover = async (minutes: number) => {
  for (let i = 0; i < minutes; i++) {
    await platform.drain()
    platform.clock.advance(60_000)
    await platform.sweep()
  }
  await platform.drain()
}

const typesIn = async (app: Subscriber) => (await app.feed()).map(({ type }) => type)

it('a run alone takes a request and one message, and its events arrive in order and are counted once', async () => {
  platform.clock.advance(60_000)
  agent.answer(succeeded)
  const app = await subscriber(platform, { endpoint: agent.url })
  await start(app)
  expect(platform.outbox).toEqual([])
  expect(platform.messages.map(({ queue }) => queue)).toEqual(['dispatch'])
  await platform.deliver(platform.messages.splice(0)[0] as never)
  expect(platform.outbox).toEqual([])
  expect(platform.messages).toEqual([])
  expect(await typesIn(app)).toEqual(['run.created', 'run.succeeded'])
  expect(await counted(app)).toEqual({ runs: 1, succeeded: 1 })
})

it('runs that follow one another are counted together, by a message each', async () => {
  platform.clock.advance(60_000)
  agent.answer(succeeded)
  const app = await subscriber(platform, { endpoint: agent.url })
  for (let i = 0; i < 3; i++) {
    await start(app)
    await platform.deliver(platform.messages.splice(-1)[0] as never)
  }
  expect(platform.messages.map(({ queue }) => queue)).toEqual(['statistics', 'statistics'])
  await platform.drain()
  expect(await counted(app)).toEqual({ runs: 3, succeeded: 3 })
})

it('the start of a run that its agent accepts is counted while it goes on, and its end later', async () => {
  agent.answer({ kind: 'answer', status: 202 })
  const app = await subscriber(platform, { endpoint: agent.url })
  const run = await start(app)
  await platform.drain()
  expect(await counted(app)).toEqual({ runs: 1, succeeded: 0 })
  await app.call('POST', `/runs/${run.id}/cancel`)
  await platform.drain()
  expect(await counted(app)).toEqual({ runs: 1, succeeded: 0 })
  expect(await typesIn(app)).toEqual(['run.created', 'run.cancelled'])
})

it('a run whose message can’t be sent is dispatched by the sweeper within two minutes', async () => {
  agent.answer(succeeded)
  const app = await subscriber(platform, { endpoint: agent.url })
  const { send } = platform.deps.queues
  platform.deps.queues.send = async () => {
    throw new Error('the queue is down')
  }
  try {
    await start(app)
  } finally {
    platform.deps.queues.send = send
  }
  expect(platform.messages).toEqual([])
  await recover(2)
  expect((await typesIn(app)).sort()).toEqual(['run.created', 'run.succeeded'])
  expect(await counted(app)).toEqual({ runs: 1, succeeded: 1 })
})

it('a queue that doesn’t answer delays the response to a new run by two seconds at most', async () => {
  const app = await subscriber(platform, { endpoint: agent.url })
  const { send } = platform.deps.queues
  platform.deps.queues.send = () => new Promise(() => {})
  const begun = performance.now()
  try {
    await start(app)
  } finally {
    platform.deps.queues.send = send
  }
  expect(performance.now() - begun).toBeLessThan(5_000)
})

it('loses, doubles and miscounts nothing when the dispatcher dies at any point', async () => {
  agent.answer(succeeded)
  receiver.answer({ kind: 'answer', status: 200 })
  const deaths = deathsAt(40, 3)
  for (const n of deaths) {
    platform.clock.advance(3_600_000)
    await platform.drain()
    const app = await subscriber(platform, { endpoint: agent.url })
    await app.subscribe(receiver.url, ['run.*'])
    receiver.requests.length = 0
    await start(app)
    const [message] = platform.messages.splice(0)
    const death = killAfter(platform, n)
    await platform.deliver(message as never)
    const reached = death.restore()
    // The queue redelivers what wasn't acknowledged, and sometimes what was.
    await platform.deliver(message as never)
    await recover(3)
    const types = await typesIn(app)
    expect(types).toHaveLength(2)
    expect(types[0]).toBe('run.created')
    const [ended] = types.slice(1)
    expect(['run.succeeded', 'run.failed']).toContain(ended)
    const received = receiver.requests.map(({ body }) => JSON.parse(String(body)).type)
    expect([...new Set(received)].sort()).toEqual(types.toSorted())
    expect(await counted(app)).toEqual({ runs: 1, succeeded: ended === 'run.succeeded' ? 1 : 0 })
    if (!reached) return
  }
  throw new Error('the points don’t end')
})
