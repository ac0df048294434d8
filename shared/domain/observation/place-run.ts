import { OBSERVED_STATES, ObservedRunEntity, type ObservedState, observedState } from '../../entities/observed-runs.ts'
import { type Run, RunEntity } from '../../entities/runs.ts'
import type { WorkerWork } from '../deps.ts'

/**
 * Puts a run where staff finds it by its state, and then looks whether it is in that state still. Whoever puts it where it was
 * a moment ago sees its end afterwards, and puts it there: however often, late or out of order its events come, it ends up where it
 * belongs. So plain writes are enough, which cost half of a transaction's.
 */
export const placeRun = async ({ table }: Pick<WorkerWork, 'table'>, run: Run): Promise<void> => {
  let now: Run | undefined = run
  while (now) {
    const state = observedState(now.status)
    const { id: run_id, workspace_id, installation_id, app_id, created_at } = now
    await table.transact([
      ObservedRunEntity.replace({ workspace_id, state, run_id, installation_id, app_id, created_at }),
    ])
    // A run that has ended stays ended, and was nothing but active before.
    if (state !== 'active') await table.transact([placeOf(run, OBSERVED_STATES[0])])
    now = await table.get(RunEntity, run)
    if (now && observedState(now.status) === state) return
    // Removed with its workspace meanwhile.
    if (!now) await table.transact([placeOf(run, state)])
  }
}

const placeOf = ({ workspace_id, id: run_id }: Run, state: ObservedState) =>
  ObservedRunEntity.delete({ workspace_id, state, run_id })
