import { OBSERVED_STATES, ObservedRunEntity, observedState } from '../../entities/observed-runs.ts'
import { RunEntity } from '../../entities/runs.ts'
import type { WorkerWork } from '../deps.ts'
import { tryAgain } from '../try-again.ts'

/**
 * Puts a run where staff finds it by its state. It reads what the run is now, and that it still is that is a condition of the
 * same transaction: however often, late or out of order its events come, the last of them finds the last state.
 */
export const placeRun = (work: WorkerWork, key: { installation_id: string; id: string }): Promise<void> =>
  tryAgain(async () => {
    const run = await work.table.get(RunEntity, key)
    if (!run) return
    const { id: run_id, workspace_id, installation_id, app_id, created_at } = run
    const state = observedState(run.status)
    await work.table.transact([
      ObservedRunEntity.replace({ workspace_id, state, run_id, installation_id, app_id, created_at }),
      // A run that has ended stays ended, and was nothing but active before.
      ...(state === 'active' ? [] : [ObservedRunEntity.delete({ workspace_id, state: OBSERVED_STATES[0], run_id })]),
      RunEntity.check(key, { where: { status: run.status } }),
    ])
  })
