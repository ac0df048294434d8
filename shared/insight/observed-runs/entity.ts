import * as z from 'zod'
import { payloadExpiry } from '#shared/foundation/payloads/index.ts'
import { createdAt } from '#shared/table/created-at.ts'
import { defineEntity } from '#shared/table/entity.ts'
import { isActive, type RunStatus } from '#shared/work/runs/index.ts'

export const ENDED_STATES = ['succeeded', 'failed', 'cancelled'] as const
export type EndedState = (typeof ENDED_STATES)[number]

/** States by which admins filter runs. `active`: not ended. */
export const OBSERVED_STATES = ['active', ...ENDED_STATES] as const
export type ObservedState = (typeof OBSERVED_STATES)[number]

export const observedState = (status: RunStatus): ObservedState =>
  isActive(status) ? 'active' : (status as ObservedState)

const observedRun = () =>
  z.object({
    workspace_id: z.string(),
    state: z.enum(ENDED_STATES),
    run_id: z.string(),
    installation_id: z.string(),
    app_id: z.string(),
    created_at: createdAt(),
  })

export type ObservedRun = z.infer<ReturnType<typeof observedRun>>

/** Directory of ended runs in one state across workspaces, partitioned by day. */
export const runsInState = (state: EndedState): string => `runs-${state}`

/** List of an app's ended runs in one state across workspaces. */
export const appRunsInState = (appId: string, state: EndedState): string => `APP#${appId}#RUNS#${state}`

/**
 * Index entry of an ended run by state: within its workspace, its app (`list`) and the platform (`directory`). Active runs have
 * {@link ActiveRunEntity}.
 */
export const ObservedRunEntity = defineEntity({
  name: 'observed-run',
  schema: observedRun,
  pk: 'WS#{workspace_id}',
  sk: 'OBSERVED#{state}#{run_id}',
  personal: 'none',
  retention: { workspace: 'removed', person: 'kept', app: 'kept' },
  expires: payloadExpiry,
  directory: ({ state, run_id, created_at }) => ({ list: runsInState(state), day: created_at, sort: run_id }),
  list: ({ app_id, state, run_id }) => ({ owner: appRunsInState(app_id, state), sort: run_id }),
})

/** Shards of the active runs. The number never changes, because the shard is part of their keys. */
export const ACTIVE_SHARDS = 16

const activeRun = () =>
  z.object({
    /** Derived from the workspace. */
    shard: z.number(),
    app_id: z.string(),
    workspace_id: z.string(),
    run_id: z.string(),
    installation_id: z.string(),
    version: z.string(),
    is_sandbox: z.boolean(),
    /** Person who started it, if any. */
    user_id: z.string().optional(),
    created_at: createdAt(),
    expires_at: z.number(),
  })

export type ActiveRun = z.infer<ReturnType<typeof activeRun>>

/**
 * A run that takes longer, until the statistics count its start with its end. Figures and lists add these runs to what they
 * have counted. It has no index: an app's runs are a range of each shard, a workspace's runs of an app a range of one.
 */
export const ActiveRunEntity = defineEntity({
  name: 'active-run',
  schema: activeRun,
  pk: 'ACTIVE#{shard}',
  sk: 'RUN#{app_id}#{workspace_id}#{run_id}',
  personal: 'none',
  // Removals end the run, which deletes it.
  retention: { workspace: 'expires', person: 'kept', app: 'kept', days: 92 },
  expires: ({ expires_at }) => expires_at,
})
