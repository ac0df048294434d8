import * as z from 'zod'
import { defineEntity } from '#shared/table/entity.ts'
import { RUN_STATUSES } from '#shared/work/runs/index.ts'

/** Usage by customers, and separately the usage in sandbox workspaces, including test runs. */
export type StatsBlock = 'live' | 'sandbox'

/** Number of shards per app, so that a busy app's events don't all update one item. Never lowered. */
export const STATS_SHARDS = 4

/** Upper bounds of the duration buckets, in ms. The last field counts longer durations. */
export const DURATION_BOUNDS = [100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 300_000] as const

/** Returns the counter of durations up to the n-th bound. */
export const durationField = (n: number) => `d${n}` as 'd0'

const n = () => z.number().optional()

const counters = () => ({
  app_id: z.string(),
  shard: z.number(),
  block: z.enum(['live', 'sandbox']),
  installed: n(),
  removed: n(),
  runs: n(),
  succeeded: n(),
  failed: n(),
  cancelled: n(),
  /** Sum over runs that succeeded or failed. */
  duration_ms: n(),
  d0: n(),
  d1: n(),
  d2: n(),
  d3: n(),
  d4: n(),
  d5: n(),
  d6: n(),
  d7: n(),
  d8: n(),
  d9: n(),
  d10: n(),
})

const appTotal = () =>
  z.object({ ...counters(), /** Last day whose open counters are part of this one. */ through: z.string().optional() })

export type AppTotal = z.infer<ReturnType<typeof appTotal>>

/**
 * One shard of an app's counters since its creation: installations, and runs up to a day. Later ones are open counters of
 * their days, see {@link openField}.
 */
export const AppTotalEntity = defineEntity({
  name: 'app-total',
  schema: appTotal,
  pk: 'STATS#{app_id}#{shard}',
  sk: 'TOTAL#{block}',
  personal: 'none',
  retention: { workspace: 'kept', person: 'kept', app: 'kept' },
})

/**
 * Counters by version are further fields of the same item, see {@link versionField}, so counting them costs no further
 * write.
 */
const appDay = () =>
  z.object({ ...counters(), /** In UTC. */ day: z.string() }).catchall(z.union([z.string(), z.number()]))

export type AppDay = z.infer<ReturnType<typeof appDay>>

/** Counters of runs, which a day may have as open ones. */
export const RUN_COUNTERS = [
  'runs',
  'succeeded',
  'failed',
  'cancelled',
  'duration_ms',
  ...Array.from({ length: DURATION_BOUNDS.length + 1 }, (_, i) => durationField(i)),
] as const

export type RunCounter = (typeof RUN_COUNTERS)[number]

/**
 * Returns the field of a day's counter that isn't part of the app's total yet. A reader adds the open counters of old days to
 * the total, so a run needn't be counted twice.
 */
export const openField = (counter: RunCounter): string => `open_${counter}`

/** Longest version with counters of its own. */
const LONGEST_VERSION = 32

/**
 * Returns the field that counts something for one version. The version is encoded, because names of fields in expressions
 * have letters and digits only. Undefined for a version that is too long for a name.
 */
export const versionField = (version: string, counter: string): string | undefined =>
  version.length > LONGEST_VERSION ? undefined : `v_${Buffer.from(version).toString('hex')}_${counter}`

/** Returns the counters by version in an item. */
export const versionCounters = (item: AppDay): Map<string, Partial<AppTotal>> => {
  const found = new Map<string, Record<string, number>>()
  for (const [field, n] of Object.entries(item)) {
    const [, hex, counter] = /^v_([0-9a-f]+)_(\w+)$/.exec(field) ?? []
    if (hex === undefined || counter === undefined) continue
    const version = Buffer.from(hex, 'hex').toString()
    found.set(version, { ...found.get(version), [counter]: Number(n) })
  }
  return found
}

/** One shard of an app's counters for one day. */
export const AppDayEntity = defineEntity({
  name: 'app-day',
  schema: appDay,
  pk: 'STATS#{app_id}#{shard}',
  sk: 'DAY#{block}#{day}',
  personal: 'none',
  retention: { workspace: 'kept', person: 'kept', app: 'kept' },
})

const countedEvent = () => z.object({ event_id: z.string(), created_at: z.number() })

/**
 * Marker of a counted event. Created in the transaction that counts it, so that it counts once. Outlives the event. Ended runs
 * have none: their entry in the log of their app says that they were counted, with start and end.
 */
export const CountedEventEntity = defineEntity({
  name: 'counted-event',
  schema: countedEvent,
  pk: 'EVT#{event_id}',
  sk: 'COUNTED',
  personal: 'none',
  retention: { workspace: 'expires', person: 'kept', app: 'kept', days: 32 },
  expires: ({ created_at }) => created_at + 32 * 86_400_000,
})

const appLog = () =>
  z.object({
    app_id: z.string(),
    /** The app's list that contains this copy: a shard of the runs of one status or error code, or those of a request. */
    list: z.string(),
    run_id: z.string(),
    request_id: z.string(),
    installation_id: z.string(),
    version: z.string(),
    trigger: z.string(),
    status: z.enum(RUN_STATUSES),
    error_code: z.string().optional(),
    duration_ms: z.number(),
    is_sandbox: z.boolean(),
    created_at: z.number(),
    finished_at: z.number(),
    expires_at: z.number(),
  })

export type AppLog = z.infer<ReturnType<typeof appLog>>

/**
 * A finished run in its app's log, metadata only. It has one copy per filter, so that each search is one query. The one of its
 * status is created in the transaction that counts the run.
 */
export const AppLogEntity = defineEntity({
  name: 'app-log',
  schema: appLog,
  pk: 'LOGS#{app_id}#{list}',
  sk: 'LOG#{run_id}',
  personal: 'none',
  retention: { workspace: 'expires', person: 'kept', app: 'expires', days: 31 },
  expires: ({ expires_at }) => expires_at,
})

/** Number of parts of a day. Every time zone's midnight is between two of them. */
export const QUARTERS = 96

const agentDay = () =>
  z
    .object({
      workspace_id: z.string(),
      shard: z.number(),
      /** In UTC. */
      day: z.string(),
      installation_id: z.string(),
    })
    .catchall(z.union([z.string(), z.number()]))

/**
 * One shard of an agent's activity in its workspace on one day. Additional numbers are stored under {@link
 * quarterField}, for active quarters of an hour only, and under {@link durationField}.
 */
export type AgentDay = z.infer<ReturnType<typeof agentDay>>

/**
 * Counters kept per quarter of an hour. `duration_ms` sums runs that succeeded or failed, `cost_units` and `tokens` all
 * runs that ended.
 */
export const QUARTER_COUNTERS = [
  'runs',
  'succeeded',
  'failed',
  'cancelled',
  'duration_ms',
  'cost_units',
  'tokens',
] as const

/** @param quarter 0–95, counted from midnight in UTC */
export const quarterField = (counter: (typeof QUARTER_COUNTERS)[number], quarter: number): string =>
  `${counter}_${quarter}`

/** Number of shards per workspace. Never lowered. */
export const WORKSPACE_SHARDS = 2

export const AgentDayEntity = defineEntity({
  name: 'agent-day',
  schema: agentDay,
  pk: 'WSTATS#{workspace_id}#{shard}',
  sk: 'DAY#{day}#{installation_id}',
  personal: 'none',
  retention: { workspace: 'removed', person: 'kept', app: 'kept' },
})

/** Fields like those of {@link AgentDay}, without durations. */
const personDay = () =>
  z
    .object({
      workspace_id: z.string(),
      shard: z.number(),
      /** In UTC. */
      day: z.string(),
      user_id: z.string(),
    })
    .catchall(z.union([z.string(), z.number()]))

export type PersonDay = z.infer<ReturnType<typeof personDay>>

/** One shard of what a person's runs did in a workspace on one day, those of asked agents included. */
export const PersonDayEntity = defineEntity({
  name: 'person-day',
  schema: personDay,
  pk: 'WSTATS#{workspace_id}#{shard}',
  sk: 'PERSON#{day}#{user_id}',
  personal: 'none',
  retention: { workspace: 'removed', person: 'kept', app: 'kept' },
})

const workspaceNow = () =>
  z.object({
    workspace_id: z.string(),
    installed: n(),
    approvals_pending: n(),
    tasks_todo: n(),
    tasks_in_progress: n(),
    tasks_discuss: n(),
    tasks_review: n(),
    tasks_done: n(),
  })

export type WorkspaceNow = z.infer<ReturnType<typeof workspaceNow>>

/** Current counts of a workspace. */
export const WorkspaceNowEntity = defineEntity({
  name: 'workspace-now',
  schema: workspaceNow,
  pk: 'WSTATS#{workspace_id}',
  sk: 'NOW',
  personal: 'none',
  retention: { workspace: 'removed', person: 'kept', app: 'kept' },
})

const countedState = () => z.object({ workspace_id: z.string(), id: z.string(), state: z.string() })

/** State under which a task, or a run awaiting approval, is counted in {@link WorkspaceNowEntity}. */
export const CountedStateEntity = defineEntity({
  name: 'counted-state',
  schema: countedState,
  pk: 'WSTATS#{workspace_id}',
  sk: 'COUNTED#{id}',
  personal: 'none',
  retention: { workspace: 'removed', person: 'kept', app: 'kept' },
})
