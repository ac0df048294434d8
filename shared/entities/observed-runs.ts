import * as z from 'zod'
import { defineEntity } from '../table/entity.ts'
import { withPayloads } from './payload.ts'
import type { RunStatus } from './runs.ts'
import { isActive } from './runs.ts'

/** The states by which staff finds runs; `active`: it has not ended. */
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

/** The runs of one state, all workspaces' together; kept by day. */
export const runsInState = (state: ObservedState): string => `runs-${state}`

/** An app's runs of one state, whatever their workspace. */
export const appRunsInState = (appId: string, state: ObservedState): string => `APP#${appId}#RUNS#${state}`

/**
 * A run where staff finds it by its state: of a workspace, of an app (`list`), of all (`directory`). There is one for each run;
 * when the run ends, it moves.
 */
export const ObservedRunEntity = defineEntity<ObservedRun>()({
  name: 'observed-run',
  schema: observedRun,
  pk: 'WS#{workspace_id}',
  sk: 'OBSERVED#{state}#{run_id}',
  expires: withPayloads,
  directory: ({ state, run_id, created_at }) => ({ list: runsInState(state), day: created_at, sort: run_id }),
  list: ({ app_id, state, run_id }) => ({ owner: appRunsInState(app_id, state), sort: run_id }),
})
