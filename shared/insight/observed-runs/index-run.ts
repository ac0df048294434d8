import type { WorkerWork } from '#shared/foundation/work/index.ts'
import { type Run, RunEntity } from '#shared/work/runs/index.ts'
import { OBSERVED_STATES, ObservedRunEntity, type ObservedState, observedState } from './entity.ts'

/**
 * Writes a run's index entry for its state, then checks that the run is still in that state. A worker with an outdated
 * state thus corrects itself, however often, late or out of order events arrive. This allows plain writes, which cost
 * half as much as transactions.
 * @param wasListed the run may have an entry from when it was active
 */
export const indexRun = async ({ table }: Pick<WorkerWork, 'table'>, run: Run, wasListed: boolean): Promise<void> => {
  let now: Run | undefined = run
  while (now) {
    const state = observedState(now.status)
    const { id: run_id, workspace_id, installation_id, app_id, created_at } = now
    await table.transact([
      ObservedRunEntity.replace({ workspace_id, state, run_id, installation_id, app_id, created_at }),
    ])
    // An ended run never changes again, and its only earlier state was active.
    if (state !== 'active' && (wasListed || now !== run)) await removeActiveEntry({ table }, run)
    now = await table.get(RunEntity, run)
    if (now && observedState(now.status) === state) return
    // The run was deleted with its workspace in the meantime.
    if (!now) await table.transact([placeOf(run, state)])
  }
}

/** Removes the index entry that a run had while it was active, if any. */
export const removeActiveEntry = ({ table }: Pick<WorkerWork, 'table'>, run: Run): Promise<void> =>
  table.transact([placeOf(run, OBSERVED_STATES[0])])

const placeOf = ({ workspace_id, id: run_id }: Run, state: ObservedState) =>
  ObservedRunEntity.delete({ workspace_id, state, run_id })
