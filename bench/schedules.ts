import { requestFunctions, workerFunctions } from '#functions/registry.ts'
import { planFunctions } from '#infra/plan.ts'
import { handleDueSchedule, ScheduleEntity } from '#shared/agents/schedules/index.ts'
import { type OverdueHandler, sweepOverdue, sweepShard } from '#shared/foundation/overdue/index.ts'
import { QUEUES } from '#shared/foundation/queues/queues.ts'
import { createWorkerWork } from '#shared/http/worker.ts'
import { HOUR, SECOND } from '#shared/kernel/clock.ts'
import { newId, stampOf } from '#shared/kernel/ids.ts'
import { installed } from '#testkit/fixtures.ts'
import { startPlatform, type TestPlatform } from '#testkit/platform.ts'
import { startStore } from '#testkit/store.ts'
import { ASSUMED } from './cost.ts'
import { OCCURRENCE } from './endpoints/workers.ts'
import { readRecorded } from './recorded.ts'
import { fixed, type Table } from './report/table.ts'
import { percentile } from './statistics.ts'

/** Longest time until a sweep finds what fell due. */
const SWEEP = 30 * SECOND
/** Records that the worker of a shard handles at once (shared/foundation/overdue/sweep.ts). */
const AT_ONCE = 20
/** Memory with which a function has a whole core, in MB. */
const WHOLE_CORE_MB = 1_769
/** Shard of those that the sweep itself starts. */
const SWEPT = -1

/** Schedules that fall due at the same moment. */
interface Due {
  workspaces: number
  /** Schedules of each workspace. */
  each: number
  /** Schedules of the first workspace, if it has more. */
  first?: number
}

/** Result of a scenario. The delays are seconds from a schedule's time to the start of its run. */
export interface Started {
  name: string
  runs: number
  cpuMs: number
  first: number[]
  others: number[]
}

const SCENARIOS: Record<string, Due> = {
  '10,000 of 100 workspaces': { workspaces: 100, each: 100 },
  '990 of 99 workspaces': { workspaces: 99, each: 10 },
  'the same, and 1,000 of another one': { workspaces: 100, each: 10, first: 1_000 },
}

/**
 * Starts what falls due at one moment, on a real store and with a clock that stands still. Measures the order in which the workers of
 * the shards start it, and the CPU of a start.
 */
const startAll = async (name: string, { workspaces, each, first = each }: Due): Promise<Started> => {
  const platform = await startPlatform({ DUE_SHARDS: '16' }, await startStore({ sdk: true }))
  try {
    const at = platform.clock.now() + HOUR
    const firstKey = await createDue(platform, first, at)
    for (let n = 1; n < workspaces; n++) await createDue(platform, each, at)
    platform.clock.advance(HOUR)
    /** Keys of the workspaces in the order of the starts, by shard. */
    const order = new Map<number, string[]>()
    const handlers = (shard: number): OverdueHandler[] => [
      {
        entity: ScheduleEntity,
        handle: async (work, key) => {
          order.set(shard, [...(order.get(shard) ?? []), key.pk])
          await handleDueSchedule(work, key)
        },
      },
    ]
    const before = process.cpuUsage()
    await sweepOverdue(createWorkerWork(platform.deps), handlers(SWEPT))
    // A worker whose time is up wakes the next one.
    for (let next = takeShard(platform); next !== undefined; next = takeShard(platform))
      await sweepShard(createWorkerWork(platform.deps), handlers(next), next)
    const { user, system } = process.cpuUsage(before)
    const runs = platform.messages.filter(({ queue }) => queue === 'dispatch').length
    const cpuMs = (user + system) / 1_000 / runs
    const starts = startsOf(order, cpuMs)
    const of = (isFirst: boolean) =>
      starts.flatMap(({ pk, at }) => ((pk === firstKey) === isFirst ? [at / SECOND] : []))
    return { name, runs, cpuMs, first: of(true), others: of(false) }
  } finally {
    await platform.stop()
  }
}

/** Takes a message for the worker of a shard. */
const takeShard = ({ messages }: TestPlatform): number | undefined => {
  const place = messages.findIndex(({ queue }) => queue === 'overdue')
  const [message] = place < 0 ? [] : messages.splice(place, 1)
  return (message?.body as { shard: number } | undefined)?.shard
}

/** Schedules of one agent, as many as it may have active runs. */
const OF_AGENT = 5

/** Stores schedules of one workspace that fall due at one moment. @returns the key of the workspace */
const createDue = async ({ deps }: TestPlatform, count: number, at: number): Promise<string> => {
  const first = await installed(deps)
  const { workspaceId: workspace_id } = first
  const { id, name } = first.person.user
  const now = deps.clock.now()
  for (let made = 0; made < count; made += OF_AGENT) {
    const { installation } = made === 0 ? first : await installed(deps, { workspaceId: workspace_id })
    await deps.table.transact(
      Array.from({ length: Math.min(OF_AGENT, count - made) }, () =>
        ScheduleEntity.create({
          ...stampOf(newId('schedule', now)),
          workspace_id,
          installation_id: installation.id,
          app_id: installation.app_id,
          name: 'Bench',
          start: '{"input":{}}',
          when: { every: 'PT1H' },
          overlap: 'skip',
          missed: 'latest',
          status: 'active',
          revision: 0,
          anchor: at - HOUR,
          failures: 0,
          next_at: at,
          due_at: at,
          created_by: { type: 'user', id, name },
          changed_at: now,
        }),
      ),
    )
  }
  return ScheduleEntity.key({ workspace_id, id: newId('schedule', now) }).pk
}

/**
 * Returns when each starts on AWS, in ms after its time: after the longest wait for a sweep, in its place in its shard, with as many
 * workers as the queue lets run. A worker starts as many as its share of a core and the store's answers allow.
 */
const startsOf = (order: ReadonlyMap<number, string[]>, cpuMs: number): { pk: string; at: number }[] => {
  const plan = planFunctions({ requestFunctions, workerFunctions }).find(({ name }) => name === 'sweeper')
  const measured = readRecorded().store.workers.find(({ name }) => name === OCCURRENCE)
  if (!plan || !measured) throw new Error('npm run record writes what a start takes')
  const waiting = (measured.consumption.roundTrips * ASSUMED.storeRoundTripMs) / AT_ONCE
  const each = Math.max(cpuMs * (WHOLE_CORE_MB / plan.memoryMb), waiting)
  const workers = Array.from({ length: QUEUES.overdue.maxConcurrency ?? 1 }, () => SWEEP)
  return [...order].flatMap(([shard, keys]) => {
    const begun = shard === SWEPT ? SWEEP : Math.min(...workers)
    if (shard !== SWEPT) workers[workers.indexOf(begun)] = begun + keys.length * each
    return keys.map((pk, place) => ({ pk, at: begun + (place + 1) * each }))
  })
}

/** Measures how late schedules start that fall due in the same minute. */
export const measureSchedules = async (): Promise<Started[]> => {
  const measured: Started[] = []
  for (const [name, due] of Object.entries(SCENARIOS)) measured.push(await startAll(name, due))
  return measured
}

/** Limit of the p95 from a schedule's time to the start of its run, in seconds (contract/schedules.md#occurrences). */
const LIMIT = 60

/** Returns true if everything starts in time. */
export const isInTime = (measured: readonly Started[]): boolean =>
  measured.every(({ first, others }) => percentile([...first, ...others], 0.95) <= LIMIT)

export const scheduleTables = (measured: readonly Started[]): Table[] => [
  {
    title: 'Schedules that fall due at one moment: seconds to the start of their runs',
    columns: [
      'due',
      'runs',
      'CPU of a start, ms',
      'p50',
      'p95',
      'last',
      'p95 of the first workspace',
      'p95 of the others',
    ],
    rows: measured.map(({ name, runs, cpuMs, first, others }) => {
      const all = [...first, ...others]
      const shares = [percentile(all, 0.5), percentile(all, 0.95), Math.max(...all)]
      return [
        name,
        String(runs),
        fixed(cpuMs, 1),
        ...[...shares, percentile(first, 0.95), percentile(others, 0.95)].map((seconds) => fixed(seconds, 1)),
      ]
    }),
    notes: [
      'Each waits the longest time for a sweep, 30 seconds. Measured here are the order of the starts on a real store and their CPU; the times follow from the memory and the number of the workers, and from the assumed round trip to the store.',
    ],
  },
]
