import * as z from 'zod'
import { payloadExpiry } from '#shared/foundation/payloads/index.ts'
import { defineEntity } from '#shared/table/entity.ts'
import { isActive, type RunStatus } from '#shared/work/runs/index.ts'

/** States by which admins filter runs. `active`: not ended. */
export const OBSERVED_STATES = ['active', 'succeeded', 'failed', 'cancelled'] as const
export type ObservedState = (typeof OBSERVED_STATES)[number]

export const observedState = (status: RunStatus): ObservedState =>
  isActive(status) ? 'active' : (status as ObservedState)

const observedRun = () =>
  z.object({
    workspace_id: z.string(),
    state: z.enum(OBSERVED_STATES),
    run_id: z.string(),
    installation_id: z.string(),
    app_id: z.string(),
    created_at: z.number(),
  })

export type ObservedRun = z.infer<ReturnType<typeof observedRun>>

/** Directory of runs in one state across workspaces, partitioned by day. */
export const runsInState = (state: ObservedState): string => `runs-${state}`

/** List of an app's runs in one state across workspaces. */
export const appRunsInState = (appId: string, state: ObservedState): string => `APP#${appId}#RUNS#${state}`

/**
 * Index entry of a run by state: within its workspace, its app (`list`) and the platform (`directory`). Each run has
 * one. It moves when the run ends.
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
