import { expect, it } from 'vitest'
import { PlatformHourEntity } from '#shared/foundation/counters/entity.ts'
import { isSettled, OutboxEntity } from '#shared/foundation/outbox/index.ts'
import { iso } from '#shared/kernel/clock.ts'
import { siblingId } from '#shared/kernel/ids.ts'
import { RunEntity } from '#shared/work/runs/entity.ts'
import { recover as recoverEvery } from '#test/faults/die-at-each.ts'
import { appFigures } from '#testkit/app-figures.ts'
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
  const { runs, succeeded } = await appFigures(platform.deps, app.id)
  return { runs, succeeded }
}

const start = async (app: Subscriber) => {
  const { status, body } = await app.call('POST', '/runs', {})
  expect(status).toBe(201)
  return body
}

const recover = async (minutes: number) => {
  await platform.drain()
  await recoverEvery(platform, 60_000, minutes)
}

const typesIn = async (app: Subscriber) => (await app.feed()).map(({ type }) => type)

it('a run takes a request, a message to its dispatcher and one to the statistics, and its events arrive in order', async () => {
  platform.clock.advance(60_000)
  agent.answer(succeeded)
  const app = await subscriber(platform, { endpoint: agent.url })
  await start(app)
  expect(platform.outbox).toEqual([])
  expect(platform.messages.map(({ queue }) => queue)).toEqual(['dispatch'])
  await platform.deliver(platform.messages.splice(0)[0] as never)
  expect(platform.outbox).toEqual([])
  expect(await typesIn(app)).toEqual(['run.created', 'run.succeeded'])
  expect(platform.messages.map(({ queue }) => queue)).toEqual(['statistics'])
  await platform.drain()
  expect(await counted(app)).toEqual({ runs: 1, succeeded: 1 })
})

it('one call reads a new run with all that its dispatch refers to, and the run decides, not its message', async () => {
  agent.answer(succeeded)
  const { middlewareStack } = platform.store.client
  for (const isOther of [false, true]) {
    const app = await subscriber(platform, { endpoint: agent.url })
    const { id } = await start(app)
    const [message] = platform.messages.splice(0) as [(typeof platform.messages)[number]]
    const { names } = message.body as { names: { version_id: string } }
    if (isOther) names.version_id = 'ver_other'
    /** Reads of the app: whether they read the run as well. */
    const reads: boolean[] = []
    middlewareStack.add(
      (next) => (args) => {
        const { RequestItems = {} } = args.input as { RequestItems?: object }
        const text = JSON.stringify(RequestItems)
        if (text.includes(`"APP#${app.app.id}"`)) reads.push(text.includes(id))
        return next(args)
      },
      { step: 'initialize', name: 'notes-reads' },
    )
    await platform.deliver(message)
    middlewareStack.remove('notes-reads')
    expect(reads).toEqual(isOther ? [true, false] : [true])
    expect(await runOf(app, id)).toMatchObject({ status: 'succeeded' })
    await recover(1)
  }
})

const runOf = (app: Subscriber, id: string) =>
  platform.deps.table.get(RunEntity, { installation_id: app.installation.id, id })

it('the event of a new run is committed with it, and is due until its dispatcher has brought it to everybody', async () => {
  agent.answer({ kind: 'answer', status: 202 })
  const app = await subscriber(platform, { endpoint: agent.url })
  const { id } = await start(app)
  const run = await runOf(app, id)
  const event = () => platform.deps.table.get(OutboxEntity, { id: siblingId('event', id) })
  expect(await event()).toMatchObject({ carried: true, due_at: run?.due_at })
  await platform.deliver(platform.messages.splice(0)[0] as never)
  expect(await event()).toEqual(expect.not.objectContaining({ due_at: expect.anything() }))
  const [created] = await app.feed()
  expect(created).toMatchObject({
    id: siblingId('event', id),
    created_at: iso(run?.created_at ?? 0),
    data: { run_id: id, status: 'queued', trigger: 'api' },
  })
  await app.call('POST', `/runs/${id}/cancel`)
  await recover(1)
})

it('a run that ends before any worker got its message is announced with its end, once', async () => {
  for (const isLost of [true, false]) {
    const app = await subscriber(platform, { endpoint: agent.url })
    const { id } = await start(app)
    const [message] = platform.messages.splice(0)
    await app.call('POST', `/runs/${id}/cancel`)
    await platform.drain()
    if (!isLost) await platform.deliver(message as never)
    await recover(2)
    expect((await typesIn(app)).sort()).toEqual(['run.cancelled', 'run.created'])
    expect(await counted(app)).toEqual({ runs: 1, succeeded: 0 })
    expect(await isDue()).toBe(false)
  }
})

it('everybody has the event of a run within two minutes, although its dispatcher died and its agent asks a person', async () => {
  agent.answer({ kind: 'answer', status: 202 })
  let asked = 0
  for (const n of [1, 2, 3, 4, 5, 6, 7]) {
    await recover(3)
    const app = await subscriber(platform, { endpoint: agent.url })
    const { id } = await start(app)
    const [message] = platform.messages.splice(0)
    const death = killAfter(platform, n)
    await platform.deliver(message as never)
    const reached = death.restore()
    const schema = { type: 'object', properties: { name: { type: 'string' } } }
    const { status } = await app.call('POST', `/runs/${id}/input-requests`, {
      input_requests: { name: { message: 'Who?', schema } },
    })
    if (status === 201) asked++
    await recover(2)
    expect(await typesIn(app), `a death after ${n} effects`).toContain('run.created')
    await app.call('POST', `/runs/${id}/cancel`)
    await recover(2)
    expect((await typesIn(app)).filter((type) => type === 'run.created')).toHaveLength(1)
    expect(await isDue()).toBe(false)
    if (!reached) break
  }
  expect(asked).toBeGreaterThan(1)
})

it('runs that follow one another are counted together, by a message each', async () => {
  platform.clock.advance(60_000)
  agent.answer(succeeded)
  const app = await subscriber(platform, { endpoint: agent.url })
  for (let i = 0; i < 3; i++) {
    await start(app)
    await platform.deliver(platform.messages.splice(-1)[0] as never)
  }
  expect(platform.messages.map(({ queue }) => queue)).toEqual(['statistics', 'statistics', 'statistics'])
  await platform.drain()
  expect(await counted(app)).toEqual({ runs: 3, succeeded: 3 })
})

it('the start of a run that its agent accepts is counted while it is active, and its end later', async () => {
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

it.each([
  ['is redelivered', false],
  ['is lost', true],
])(
  'loses, doubles and miscounts nothing when the dispatcher dies at any point and its message %s',
  async (_what, isLost) => {
    agent.answer(succeeded)
    receiver.answer({ kind: 'answer', status: 200 })
    const deaths = deathsAt(100, 10)
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
      if (!isLost) await platform.deliver(message as never)
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
  },
)

/** Deliveries that the platform's statistics count as succeeded. */
const deliveredCount = async (): Promise<number> => {
  const { table } = platform.deps
  const shards = Array.from({ length: table.counterShards }, (_, shard) =>
    table.query(PlatformHourEntity, { shard }, { limit: 1_000 }),
  )
  const hours = (await Promise.all(shards)).flatMap(({ items }) => items)
  const counts = hours.flatMap((hour) => Object.entries(hour))
  return counts.reduce((sum, [field, n]) => sum + (field.startsWith('deliveries_succeeded_') ? Number(n) : 0), 0)
}

/** Starts a run whose dispatcher does its work. @returns the messages of its first deliveries, not yet delivered */
const runAndDispatch = async (app: Subscriber) => {
  await start(app)
  const [dispatch] = platform.messages.splice(0)
  await platform.deliver(dispatch as never)
  const first = platform.messages.filter(({ queue }) => queue === 'delivery')
  platform.messages.splice(0)
  return first
}

const received = () => receiver.requests.map(({ body }) => JSON.parse(String(body)).type).sort()

const isDue = async () => (await platform.deps.table.due(platform.clock.now() + 365 * 86_400_000, 100)).length > 0

/** Says whether an event is settled. */
const isSettledNow = async (sent: { id: string } | undefined) => {
  const event = await platform.deps.table.get(OutboxEntity, { id: String(sent?.id) })
  return event && isSettled(event)
}

it('a delivery gets its record with the lease of its first attempt, and its event is due until that is recorded', async () => {
  agent.answer(succeeded)
  receiver.answer({ kind: 'answer', status: 200 })
  receiver.requests.length = 0
  const app = await subscriber(platform, { endpoint: agent.url })
  const webhook = await app.subscribe(receiver.url, ['run.succeeded'])
  const [message, ...more] = await runAndDispatch(app)
  expect(more).toEqual([])
  const [, end] = await app.feed()
  expect(await app.deliveries(webhook.id)).toEqual([])
  expect(await isSettledNow(end)).toBe(false)
  await platform.deliver(message as never)
  expect(await app.deliveries(webhook.id)).toMatchObject([{ status: 'succeeded', attempt: 1, event_id: end?.id }])
  expect(await isSettledNow(end)).toBe(true)
})

it('a first message that comes twice, or after the sweeper has sent another, sends nothing twice', async () => {
  agent.answer(succeeded)
  receiver.answer({ kind: 'answer', status: 200 })
  const app = await subscriber(platform, { endpoint: agent.url })
  const webhook = await app.subscribe(receiver.url, ['run.succeeded'])
  receiver.requests.length = 0
  const [twice] = await runAndDispatch(app)
  await platform.deliver(twice as never)
  await platform.deliver(twice as never)
  expect(received()).toEqual(['run.succeeded'])
  const [late] = await runAndDispatch(app)
  platform.clock.advance(60_000)
  await platform.sweep()
  while (platform.outbox.length > 0) await platform.deps.bus.put(platform.outbox.splice(0))
  const fanOut = platform.messages.splice(0).find(({ queue }) => queue === 'fanout')
  await platform.deliver(fanOut as never)
  const [another] = platform.messages.splice(0)
  await Promise.all([platform.deliver(late as never), platform.deliver(another as never)])
  expect(received()).toEqual(['run.succeeded', 'run.succeeded'])
  await recover(2)
  expect((await app.deliveries(webhook.id)).map(({ status }: { status: string }) => status)).toEqual([
    'succeeded',
    'succeeded',
  ])
})

it('a message that comes late leases the delivery first, and one of a paused subscription is skipped and recorded', async () => {
  agent.answer(succeeded)
  receiver.answer({ kind: 'answer', status: 200 })
  const app = await subscriber(platform, { endpoint: agent.url })
  const webhook = await app.subscribe(receiver.url, ['run.succeeded'])
  receiver.requests.length = 0
  const [late] = await runAndDispatch(app)
  platform.clock.advance(20_000)
  await platform.deliver(late as never)
  expect(received()).toEqual(['run.succeeded'])
  const [paused] = await runAndDispatch(app)
  await app.call('PATCH', `/webhooks/${webhook.id}`, { status: 'disabled' })
  await platform.deliver(paused as never)
  expect(received()).toEqual(['run.succeeded'])
  expect(await app.deliveries(webhook.id)).toMatchObject([{ status: 'skipped', attempt: 0 }, { status: 'succeeded' }])
  await recover(2)
  expect(await isDue()).toBe(false)
})

/** Ends a run by API, whose event reaches the fan-out over the bus. @returns the message of the fan-out */
const cancelAndRelay = async (app: Subscriber) => {
  const { id } = await start(app)
  await platform.drain()
  await app.call('POST', `/runs/${id}/cancel`)
  await platform.deps.bus.put(platform.outbox.splice(0))
  const fanOut = platform.messages.find(({ queue }) => queue === 'fanout')
  platform.messages.splice(0)
  return fanOut as (typeof platform.messages)[number]
}

it('the worker of a delivery records the position of its event, which is due until then', async () => {
  agent.answer({ kind: 'answer', status: 202 })
  receiver.answer({ kind: 'answer', status: 200 })
  const app = await subscriber(platform, { endpoint: agent.url })
  const webhook = await app.subscribe(receiver.url, ['run.cancelled'])
  receiver.requests.length = 0
  await platform.deliver(await cancelAndRelay(app))
  const [message, ...more] = platform.messages.splice(0).filter(({ queue }) => queue === 'delivery')
  expect(more).toEqual([])
  const [, end] = await app.feed()
  const read = () => platform.deps.table.get(OutboxEntity, { id: String(end?.id) })
  expect(await app.deliveries(webhook.id)).toEqual([])
  expect(await isSettledNow(end)).toBe(false)
  expect((await app.call('GET', `/events?since=${end?.id}`)).body.items).toEqual([])
  await platform.deliver(message as never)
  expect(await app.deliveries(webhook.id)).toMatchObject([{ status: 'succeeded', attempt: 1, event_id: end?.id }])
  expect(await read()).toMatchObject({ feed_n: 2 })
  expect(await isSettledNow(end)).toBe(true)
  expect((await app.call('GET', `/events?since=${end?.id}`)).body.items).toEqual([])
})

it('loses and doubles no delivery of an event over the bus when a worker dies at any point', async () => {
  agent.answer({ kind: 'answer', status: 202 })
  for (const isLost of [false, true]) {
    for (const n of deathsAt(100, 10)) {
      await recover(2)
      const app = await subscriber(platform, { endpoint: agent.url })
      const hooks = [
        await app.subscribe(`${receiver.url}/a`, ['run.cancelled']),
        await app.subscribe(`${receiver.url}/b`, ['run.cancelled']),
      ]
      receiver.requests.length = 0
      receiver.answer({ kind: 'answer', status: 200 })
      const fanOut = await cancelAndRelay(app)
      const death = killAfter(platform, n)
      await platform.deliver(fanOut)
      const messages = platform.messages.splice(0)
      for (const message of messages) await platform.deliver(message)
      const reached = death.restore()
      if (!isLost) for (const message of [fanOut, ...messages]) await platform.deliver(message)
      await recover(3)
      expect(await typesIn(app)).toEqual(['run.created', 'run.cancelled'])
      expect(receiver.requests.length).toBeGreaterThanOrEqual(2)
      expect(receiver.requests.length).toBeLessThanOrEqual(reached ? 3 : 2)
      for (const { id } of hooks)
        expect(await app.deliveries(id), `a death at call ${n}`).toMatchObject([{ status: 'succeeded' }])
      expect(await isDue()).toBe(false)
      expect(platform.messages).toEqual([])
      if (!reached) break
    }
  }
})

it('loses and miscounts no delivery when its worker dies at any point, and sends at most one extra request', async () => {
  agent.answer(succeeded)
  for (const isLost of [false, true]) {
    for (const n of deathsAt(60, 8)) {
      await recover(2)
      const app = await subscriber(platform, { endpoint: agent.url })
      const [shaky] = [
        await app.subscribe(`${receiver.url}/a`, ['run.*']),
        await app.subscribe(`${receiver.url}/b`, ['run.*']),
      ]
      receiver.requests.length = 0
      receiver.answer({ kind: 'answer', status: 200 })
      receiver.next({ kind: 'answer', status: 500 })
      const before = await deliveredCount()
      const messages = await runAndDispatch(app)
      const death = killAfter(platform, n)
      for (const message of messages) await platform.deliver(message as never)
      const reached = death.restore()
      platform.clock.advance(120_000)
      if (!isLost) for (const message of messages) await platform.deliver(message as never)
      await recover(3)
      const sent = received()
      expect([...new Set(sent)]).toEqual(['run.created', 'run.succeeded'])
      expect(sent.length).toBeGreaterThanOrEqual(5)
      expect(sent.length).toBeLessThanOrEqual(reached ? 6 : 5)
      const { items } = (await app.call('GET', '/webhooks')).body
      expect(items.map(({ id }: { id: string }) => id)).toContain(shaky.id)
      for (const { id } of items)
        expect((await app.deliveries(id)).map(({ status }: { status: string }) => status)).toEqual([
          'succeeded',
          'succeeded',
        ])
      expect((await deliveredCount()) - before).toBe(4)
      expect(await isDue()).toBe(false)
      expect(platform.messages).toEqual([])
      if (!reached) break
    }
  }
})

/** Starts a run whose agent completes it by API, and completes it. @returns the message of its end */
const completed = async (app: Subscriber) => {
  agent.answer({ kind: 'answer', status: 202 })
  const { id } = await start(app)
  await platform.drain()
  platform.clock.advance(60_000)
  expect((await app.call('POST', `/runs/${id}/complete`, { status: 'succeeded' })).status).toBe(200)
  expect(platform.outbox).toEqual([])
  const [message, ...others] = platform.messages.splice(0)
  expect(message?.queue).toBe('fanout')
  expect(others).toEqual([])
  return message as NonNullable<typeof message>
}

it('the end of a run by API takes one message, which brings it to everybody and has it counted', async () => {
  const app = await subscriber(platform, { endpoint: agent.url })
  await platform.deliver(await completed(app))
  expect(platform.messages.map(({ queue }) => queue)).toEqual(['statistics'])
  await platform.drain()
  expect(await typesIn(app)).toEqual(['run.created', 'run.succeeded'])
  expect(await counted(app)).toEqual({ runs: 1, succeeded: 1 })
  expect(await isDue()).toBe(false)
})

it('the end of a run by API arrives and counts once, although its message is lost or comes again, or its worker dies', async () => {
  const deaths = [1, 2, 3, 4, 5, 6, 7, 8].map((n) => async (message: (typeof platform.messages)[number]) => {
    const death = killAfter(platform, n)
    await platform.deliver(message)
    death.restore()
  })
  const fates = [
    async () => {},
    async (message: (typeof platform.messages)[number]) => {
      await Promise.all([platform.deliver(message), platform.deliver(message)])
      await platform.deliver(message)
    },
    ...deaths,
  ]
  for (const meet of fates) {
    const app = await subscriber(platform, { endpoint: agent.url })
    await meet(await completed(app))
    await recover(3)
    expect((await typesIn(app)).sort()).toEqual(['run.created', 'run.succeeded'])
    expect(await counted(app)).toEqual({ runs: 1, succeeded: 1 })
    expect(await isDue()).toBe(false)
  }
})
