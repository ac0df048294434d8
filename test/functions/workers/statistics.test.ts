import { beforeAll, expect, it } from 'vitest'
import type { OutboxEvent } from '#shared/foundation/outbox/entity.ts'
import { ObservedRunEntity } from '#shared/insight/observed-runs/entity.ts'
import { countEvents } from '#shared/insight/statistics/count.ts'
import { DAY } from '#shared/kernel/clock.ts'
import { ConditionFailed, type Write } from '#shared/table/entity.ts'
import { RunEntity } from '#shared/work/runs/entity.ts'
import { RUN_STATUSES } from '#shared/work/runs/status.ts'
import { TASK_STATUSES } from '#shared/work/tasks/status.ts'
import { type Dice, dice } from '#testkit/dice.ts'
import type { Installed } from '#testkit/fixtures.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import {
  appsOf,
  createStatisticsTable,
  eventsOf,
  installationEvent,
  runOf,
  type StatisticsTable,
  taskEvent,
  taskOf,
} from './statistics-support.ts'

const platform = usingPlatform()
let apps: Installed[]
beforeAll(async () => {
  apps = await appsOf(platform, 4)
})

const NOTHING = new Map()
const now = () => platform.clock.now()
const pick = <T>(roll: Dice, list: readonly T[]): T => list[roll.below(list.length)] as T
const shuffled = <T>(roll: Dice, list: readonly T[]): T[] =>
  list
    .map((one) => [roll.share(), one] as const)
    .toSorted(([a], [b]) => a - b)
    .map(([, one]) => one)

/** Creates runs of every kind, tasks and installations, with all of their events. */
const happened = (roll: Dice) => {
  const runs = Array.from({ length: 30 }, () => {
    const at = now() - roll.below(2 * DAY)
    const status = pick(roll, RUN_STATUSES)
    const ended = status === 'succeeded' || status === 'failed' || status === 'cancelled'
    return runOf(pick(roll, apps), at, {
      status,
      is_sandbox: roll.chance(0.3),
      ...(ended && { finished_at: at + roll.below(90_000), cost_units: roll.below(1_000) / 1_000 }),
      ...(status === 'failed' && { error_code: pick(roll, ['no_stock', 'agent_failed']) }),
      ...(status === 'awaiting_approval' && { pending_step: 'step_1' }),
    })
  })
  const tasks = Array.from({ length: 8 }, () => taskOf(pick(roll, apps), now(), pick(roll, TASK_STATUSES)))
  const events = [
    ...runs.flatMap(eventsOf),
    ...tasks.flatMap((task) => [taskEvent('task.created', task), taskEvent('task.updated', task)]),
    ...apps.map((app) => installationEvent('installation.created', app, now())),
    ...apps.slice(2).map((app) => installationEvent('installation.removed', app, now())),
  ]
  return { records: { apps, runs, tasks }, events }
}

/** Creates succeeded runs with two events each. */
const succeeded = async (count: number, app = apps[0] as Installed) => {
  const runs = Array.from({ length: count }, () => runOf(app, now()))
  return { events: runs.flatMap(eventsOf), runs, ...(await createStatisticsTable(platform, { apps, runs })) }
}

/** Creates a run that is listed as active. Its record is still that of an active run, the returned one has ended. */
const listed = async () => {
  const run = runOf(apps[0] as Installed, now())
  const { finished_at, ...rest } = run
  const world = await createStatisticsTable(platform, { apps, runs: [{ ...rest, status: 'running' }] })
  const [created, ended] = eventsOf(run) as [OutboxEvent, OutboxEvent]
  await countEvents(world.work, [created])
  return { run, world, created, ended }
}

const totals = async ({ counted }: Pick<StatisticsTable, 'counted'>) => {
  const { sums, places } = await counted()
  const active = places.filter((one) => one.includes('active-run')).length
  const of = (name: string) =>
    Object.entries(sums).flatMap(([key, fields]) => (key.includes(`"${name}"`) && key.includes('live') ? [fields] : []))
  const total = (counter: string) => {
    const all = [
      ...of('app-total').map((fields) => fields[counter]),
      ...of('app-day').map((fields) => fields[`open_${counter}`]),
    ]
    return all.some(Boolean) ? all.reduce<number>((sum, n = 0) => sum + n, 0) : undefined
  }
  return {
    runs: (total('runs') ?? 0) + active,
    succeeded: total('succeeded'),
    logs: places.filter((one) => one.includes('app-log')).length,
    active,
  }
}

/** Runs an action before each of the table's transactions. */
const meddling = (
  { table }: Pick<StatisticsTable, 'table'>,
  meddle: (writes: readonly Write[]) => Promise<void> | void,
) => {
  const real = table.transact.bind(table)
  table.transact = async (writes) => {
    await meddle(writes)
    return real(writes)
  }
  return () => Object.assign(table, { transact: real })
}

/** Returns a transaction's marks of runs: their entries in the log of their app. */
const marksOf = (writes: readonly Write[]) =>
  writes.length > 1 ? writes.filter(({ entity }) => entity.name === 'app-log') : []

it('batches add up to the same result as single events, in any mix, order and repetition', async () => {
  const roll = dice(1)
  const { records, events } = happened(roll)
  const [one, many] = [await createStatisticsTable(platform, records), await createStatisticsTable(platform, records)]
  for (const event of shuffled(roll, events)) expect(await countEvents(one.work, [event])).toEqual(NOTHING)

  const left = shuffled(roll, [...events, ...events.filter(() => roll.chance(0.4))])
  const batches: OutboxEvent[][] = []
  while (left.length > 0) batches.push(left.splice(0, 1 + roll.below(90)))
  batches.push(pick(roll, batches))
  // Two concurrent workers.
  const worker = async () => {
    for (let batch = batches.pop(); batch; batch = batches.pop()) {
      expect(await countEvents(many.work, batch)).toEqual(NOTHING)
    }
  }
  await Promise.all([worker(), worker()])
  const expected = await one.counted()
  expect(Object.keys(expected.sums).length).toBeGreaterThan(20)
  expect(await many.counted()).toEqual(expected)
})

it('a batch writes each counter once per transaction, in as many transactions as its marks need', async () => {
  const { events, ...world } = await succeeded(120)
  const sent: (readonly Write[])[] = []
  meddling(world, (writes) => {
    if (marksOf(writes).length > 0) sent.push(writes)
  })
  expect(await countEvents(world.work, [...events, ...events.slice(0, 30)])).toEqual(NOTHING)
  expect(sent).toHaveLength(2)
  for (const writes of sent) {
    expect(writes.length).toBeLessThanOrEqual(100)
    expect(new Set(writes.map(({ key }) => `${key.pk} ${key.sk}`)).size).toBe(writes.length)
    // In addition to the marks: the app's day, the agent's day and the platform's hour.
    expect(writes.length - marksOf(writes).length).toBeLessThanOrEqual(3)
  }
  expect(await totals(world)).toMatchObject({ runs: 120, succeeded: 120, logs: 240, active: 0 })
})

it('an event counted before isn’t counted again within a batch, and doesn’t block the others', async () => {
  const { events, ...world } = await succeeded(10)
  await countEvents(world.work, events.slice(7, 9))
  expect(await countEvents(world.work, events)).toEqual(NOTHING)
  expect(await totals(world)).toMatchObject({ runs: 10, succeeded: 10, logs: 20, active: 0 })
})

it('an event that another worker counts concurrently isn’t counted again', async () => {
  const { events, ...world } = await succeeded(10)
  let first = true
  const restore = meddling(world, async (writes) => {
    if (!first || marksOf(writes).length === 0) return
    first = false
    await countEvents(world.work, events.slice(3, 12))
  })
  expect(await countEvents(world.work, events)).toEqual(NOTHING)
  restore()
  expect(first).toBe(false)
  expect(await totals(world)).toMatchObject({ runs: 10, succeeded: 10, logs: 20, active: 0 })
})

it('only the message of an event that can’t be counted fails, and is redelivered', async () => {
  const { events, runs, ...world } = await succeeded(20)
  const poison = events[11]
  const restore = meddling(world, (writes) => {
    if (marksOf(writes).some(({ item }) => item?.run_id === runs[5]?.id)) throw new Error('not this one')
  })
  const unreadable = { ...(events[0] as OutboxEvent), id: 'evt_unreadable', data: '{' }
  const failed = await countEvents(world.work, [...events, unreadable])
  expect([...failed.keys()].map(({ id }) => id).toSorted()).toEqual([poison?.id, unreadable.id].toSorted())
  expect(await totals(world)).toMatchObject({ runs: 19, succeeded: 19, logs: 39 })
  restore()
  expect(
    await countEvents(
      world.work,
      [...failed.keys()].filter((event) => event !== unreadable),
    ),
  ).toEqual(NOTHING)
  expect(await totals(world)).toMatchObject({ runs: 20, succeeded: 20 })
})

it('only the messages of a run that can’t be logged fail, and are not counted twice when redelivered', async () => {
  const { events, runs, ...world } = await succeeded(5)
  const restore = meddling(world, ([write]) => {
    if (write?.entity.name === 'app-log' && write.item?.run_id === runs[2]?.id) throw new Error('not this one')
  })
  const failed = await countEvents(world.work, events)
  expect([...failed.keys()]).toEqual(events.slice(4, 6))
  restore()
  expect(await countEvents(world.work, [...failed.keys()])).toEqual(NOTHING)
  expect(await totals(world)).toMatchObject({ runs: 5, succeeded: 5, logs: 10, active: 0 })
})

it('a run that has ended by the time it is counted is counted and filed once, at its end', async () => {
  const { events, runs, ...world } = await succeeded(1)
  const sent: (readonly Write[])[] = []
  meddling(world, (writes) => {
    sent.push(writes)
  })
  const [created, ended] = events as [OutboxEvent, OutboxEvent]
  expect(await countEvents(world.work, [created])).toEqual(NOTHING)
  expect(sent).toEqual([])
  expect(await countEvents(world.work, [ended])).toEqual(NOTHING)
  // The mark, the app's day, the agent's day, the platform's hour. The app's total stays as it is.
  expect(sent.filter((writes) => marksOf(writes).length > 0).map(({ length }) => length)).toEqual([4])
  expect(await totals(world)).toMatchObject({ runs: 1, succeeded: 1, logs: 2, active: 0 })
})

it('a run is counted once while it is active and after its end, whatever comes twice', async () => {
  const run = runOf(apps[0] as Installed, now())
  const world = await createStatisticsTable(platform, { apps, runs: [run] })
  const [created, ended] = eventsOf(run) as [OutboxEvent, OutboxEvent]
  const { finished_at, ...rest } = run
  await world.table.transact([RunEntity.replace({ ...rest, status: 'running' })])
  for (let i = 0; i < 2; i++) expect(await countEvents(world.work, [created])).toEqual(NOTHING)
  expect(await totals(world)).toMatchObject({ runs: 1, succeeded: undefined, active: 1 })
  await world.table.transact([RunEntity.replace({ ...rest, finished_at, status: 'succeeded' })])
  expect(await countEvents(world.work, [created])).toEqual(NOTHING)
  expect(await totals(world)).toMatchObject({ runs: 1, succeeded: undefined })
  expect(await countEvents(world.work, [ended, created])).toEqual(NOTHING)
  expect(await countEvents(world.work, [created, ended])).toEqual(NOTHING)
  expect(await totals(world)).toEqual({ runs: 1, succeeded: 1, logs: 2, active: 0 })
  const { items } = await world.table.query(ObservedRunEntity, { workspace_id: run.workspace_id }, { limit: 10 })
  expect(items.map(({ state }) => state)).toEqual(['succeeded'])
})

it('an active run leaves the list in the transaction that counts it, so it is never missing or doubled', async () => {
  const { run, world, ended } = await listed()
  await world.table.transact([RunEntity.replace(run)])
  const seen: (number | undefined)[] = []
  const restore = meddling(world, async () => {
    seen.push((await totals(world)).runs)
  })
  expect(await countEvents(world.work, [ended])).toEqual(NOTHING)
  restore()
  expect(seen.length).toBeGreaterThan(2)
  expect(new Set(seen)).toEqual(new Set([1]))
  expect(await totals(world)).toMatchObject({ runs: 1, succeeded: 1, active: 0 })
})

it('a run whose record was removed while it was listed as active is counted once, with its app’s runs', async () => {
  const { run, world, created, ended } = await listed()
  await world.table.transact([RunEntity.delete(run)])
  for (const event of [created, ended, created, ended]) expect(await countEvents(world.work, [event])).toEqual(NOTHING)
  expect(await totals(world)).toMatchObject({ runs: 1, active: 0 })
  expect(Object.entries((await world.counted()).sums).filter(([name]) => name.includes('platform-hour'))).toMatchObject(
    [[expect.anything(), { [`runs_${quarterOfHour(run.created_at)}`]: 1 }]],
  )
})

const quarterOfHour = (at: number) => Math.floor((at % 3_600_000) / 900_000)

it('a run is not counted again when its events come once more after its record was removed', async () => {
  const { events, runs, ...world } = await succeeded(1)
  expect(await countEvents(world.work, events)).toEqual(NOTHING)
  await world.table.transact(runs.map((run) => RunEntity.delete(run)))
  for (const event of events.toReversed()) expect(await countEvents(world.work, [event])).toEqual(NOTHING)
  const { sums } = await world.counted()
  const hours = Object.entries(sums).filter(([name]) => name.includes('platform-hour'))
  expect(hours.map(([, fields]) => Object.values(fields))).toEqual([[1, 1]])
})

it('the event of an end that somebody made up counts no start, and doesn’t wait for the run’s end', async () => {
  const run = runOf(apps[0] as Installed, now())
  const { finished_at, ...rest } = run
  const world = await createStatisticsTable(platform, { apps, runs: [{ ...rest, status: 'running' }] })
  const [created, ended] = eventsOf(run) as [OutboxEvent, OutboxEvent]
  expect(await countEvents(world.work, [created])).toEqual(NOTHING)
  expect(await countEvents(world.work, [{ ...ended, id: 'evt_made_up', type: 'run.failed' }])).toEqual(NOTHING)
  expect(await totals(world)).toMatchObject({ runs: 1, active: 1 })
  await world.table.transact([RunEntity.replace(run)])
  expect(await countEvents(world.work, [ended])).toEqual(NOTHING)
  expect(await totals(world)).toMatchObject({ runs: 1, active: 0, logs: 2 })
})

it('conflicting transactions are split and succeed', async () => {
  const { events, ...world } = await succeeded(15)
  let refused = 0
  meddling(world, (writes) => {
    if (marksOf(writes).length <= 1) return
    refused++
    throw Object.assign(new Error('conflict'), { name: 'TransactionCanceledException' })
  })
  expect(await countEvents(world.work, events)).toEqual(NOTHING)
  expect(refused).toBeGreaterThan(0)
  expect(await totals(world)).toMatchObject({ runs: 15, succeeded: 15, logs: 30, active: 0 })
})

it('a failing store isn’t retried for long: everything is redelivered, and then counted once', async () => {
  const { events, ...world } = await succeeded(60)
  let asked = 0
  const restore = meddling(world, (writes) => {
    if (marksOf(writes).length === 0) return
    asked++
    throw Object.assign(new Error('throttled'), { name: 'ThrottlingException' })
  })
  const failed = await countEvents(world.work, events)
  // The ends count the starts as well.
  expect(new Set(failed.keys())).toEqual(new Set(events.filter(({ type }) => type === 'run.succeeded')))
  expect(asked).toBeLessThanOrEqual(10)
  restore()
  expect(await countEvents(world.work, events)).toEqual(NOTHING)
  expect(await totals(world)).toMatchObject({ runs: 60, succeeded: 60, logs: 120, active: 0 })
})

it('a state that changes while it is counted is counted in its latest version, with the rest of its batch', async () => {
  const task = taskOf(apps[0] as Installed, now(), 'todo')
  const run = runOf(apps[0] as Installed, now())
  const world = await createStatisticsTable(platform, { apps, runs: [run], tasks: [task] })
  let lost = 0
  const restore = meddling(world, (writes) => {
    const state = writes.find(({ entity }) => entity.name === 'counted-state')
    if (state && lost++ < 3) throw new ConditionFailed(state, undefined)
  })
  expect(await countEvents(world.work, [...eventsOf(run), taskEvent('task.created', task)])).toEqual(NOTHING)
  restore()
  expect(lost).toBe(4)
  expect(await totals(world)).toMatchObject({ runs: 1, succeeded: 1 })
  expect(JSON.stringify((await world.counted()).sums)).toContain('"tasks_todo":1')
})

it('a day of one agent’s runs stays within DynamoDB’s limit of 4 KB per expression', async () => {
  const app = apps[0] as Installed
  const midnight = Math.floor(now() / DAY) * DAY - DAY
  const runs = Array.from({ length: 96 }, (_, quarter) => runOf(app, midnight + quarter * 15 * 60_000))
  const world = await createStatisticsTable(platform, { apps, runs })
  const counters: number[] = []
  const restore = meddling(world, (writes) => {
    counters.push(...writes.map(({ changes }) => Object.keys(changes?.add ?? {}).length))
  })
  expect(await countEvents(world.work, runs.flatMap(eventsOf))).toEqual(NOTHING)
  restore()
  expect(Math.max(...counters)).toBeLessThanOrEqual(60)
  expect(Math.max(...counters)).toBeGreaterThan(30)
})
