import type { WorkerWork } from '#shared/foundation/work/index.ts'
import { type Run, RunEntity } from '#shared/work/runs/index.ts'
import { type EndedState, ObservedRunEntity } from './entity.ts'

/** Writes an ended run's index entry, unless the run is deleted with its workspace in the meantime. */
export const indexRun = async ({ table }: Pick<WorkerWork, 'table'>, run: Run): Promise<void> => {
  const { id: run_id, status, workspace_id, installation_id, app_id, created_at } = run
  const entry = { workspace_id, state: status as EndedState, run_id, installation_id, app_id, created_at }
  await table.transact([ObservedRunEntity.replace(entry)])
  if (!(await table.get(RunEntity, run))) await table.transact([ObservedRunEntity.delete(entry)])
}
