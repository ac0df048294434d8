import * as z from 'zod'
import { defineEntity } from '../table/entity.ts'
import { RUN_STATUSES } from './runs.ts'

/** Customers' use, and apart from it the use in sandbox workspaces: test runs among them. */
export type StatsBlock = 'live' | 'sandbox'

/** Counters are spread over so many items, so that a busy app’s events do not all meet at one. Never lowered. */
export const STATS_SHARDS = 4

/** Upper bounds, in ms, of the durations counted together; the last field counts what is longer. */
export const DURATION_BOUNDS = [100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 300_000] as const

/** The counter of durations up to the n-th bound. */
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
  /** Of runs that succeeded or failed. */
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

const appTotal = () => z.object(counters())

export type AppTotal = z.infer<ReturnType<typeof appTotal>>

/** One shard of what was counted for an app since it was created. */
export const AppTotalEntity = defineEntity<AppTotal>()({
  name: 'app-total',
  schema: appTotal,
  pk: 'STATS#{app_id}#{shard}',
  sk: 'TOTAL#{block}',
})

const appDay = () => z.object({ ...counters(), /** In UTC. */ day: z.string() })

export type AppDay = z.infer<ReturnType<typeof appDay>>

/** One shard of what was counted for an app on one day. */
export const AppDayEntity = defineEntity<AppDay>()({
  name: 'app-day',
  schema: appDay,
  pk: 'STATS#{app_id}#{shard}',
  sk: 'DAY#{block}#{day}',
})

const countedEvent = () => z.object({ event_id: z.string(), created_at: z.number() })

/** An event that was counted; made in the transaction that counts it, so that it counts once. Outlives the event. */
export const CountedEventEntity = defineEntity<z.infer<ReturnType<typeof countedEvent>>>()({
  name: 'counted-event',
  schema: countedEvent,
  pk: 'EVT#{event_id}',
  sk: 'COUNTED',
  expires: ({ created_at }) => created_at + 32 * 86_400_000,
})

const appLog = () =>
  z.object({
    app_id: z.string(),
    /** Which of the app's lists this copy stands in: see {@link logsOf}. */
    list: z.string(),
    run_id: z.string(),
    request_id: z.string().optional(),
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

/** A finished run in its app's log: metadata only. It stands in one list for each way of searching, so each is one query. */
export const AppLogEntity = defineEntity<AppLog>()({
  name: 'app-log',
  schema: appLog,
  pk: 'LOGS#{app_id}#{list}',
  sk: 'LOG#{run_id}',
  expires: ({ expires_at }) => expires_at,
})

/** A day in so many parts: every time zone's midnight lies between two of them. */
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
 * One shard of what an agent did in its workspace on one day. Beside the fields above it holds numbers under {@link quarterField},
 * for those quarters of an hour in which there was something, and durations under {@link durationField}.
 */
export type AgentDay = z.infer<ReturnType<typeof agentDay>>

/** What is counted in each quarter of an hour; the sums are of runs that succeeded or failed, and of all that ended. */
export const QUARTER_COUNTERS = ['runs', 'succeeded', 'failed', 'cancelled', 'duration_ms', 'cost_units'] as const

/** @param quarter 0–95, counted from midnight in UTC */
export const quarterField = (counter: (typeof QUARTER_COUNTERS)[number], quarter: number): string =>
  `${counter}_${quarter}`

/** A workspace's counters are spread over so many items. Never lowered. */
export const WORKSPACE_SHARDS = 2

export const AgentDayEntity = defineEntity<AgentDay>()({
  name: 'agent-day',
  schema: agentDay,
  pk: 'WSTATS#{workspace_id}#{shard}',
  sk: 'DAY#{day}#{installation_id}',
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

/** How many of what a workspace has now. */
export const WorkspaceNowEntity = defineEntity<WorkspaceNow>()({
  name: 'workspace-now',
  schema: workspaceNow,
  pk: 'WSTATS#{workspace_id}',
  sk: 'NOW',
})

const countedState = () => z.object({ workspace_id: z.string(), id: z.string(), state: z.string() })

/** As what a task, or a run that waits for approval, is counted in {@link WorkspaceNowEntity}. */
export const CountedStateEntity = defineEntity<z.infer<ReturnType<typeof countedState>>>()({
  name: 'counted-state',
  schema: countedState,
  pk: 'WSTATS#{workspace_id}',
  sk: 'COUNTED#{id}',
})
