import type { WorkerWork } from '#shared/foundation/work/index.ts'
import type { Run } from '#shared/work/runs/index.ts'
import type { Task } from '#shared/work/tasks/index.ts'
import { indexRun } from '../observed-runs/index-run.ts'
import type { Countable } from './count-exactly-once.ts'
import { counterWrites, type LoadedEvent } from './counter-writes.ts'
import { CountedEventEntity } from './entity.ts'
import { logWrites } from './log.ts'
import { countApproval, countTask } from './workspace.ts'

type Store = Pick<WorkerWork, 'table'>

/** A run to be written to its index and log. */
interface Filing {
  run: Run
  /** True once the run's end was reported, so that it belongs in its app's log. */
  ended: boolean
}

/** Work that results from a batch. Each item has a name, so that it is done once for all events that cause it. */
export interface BatchWork {
  counts: Map<string, Countable>
  runs: Map<string, Filing>
}

/**
 * Adds the work that results from an event.
 * @param spread determines the shards that the event is counted in
 * @returns the names of the added work
 */
export const addFollowingWork = (
  store: Store,
  told: LoadedEvent,
  spread: string,
  { counts, runs }: BatchWork,
): string[] => {
  const { type, id, workspace_id } = told.event
  const { run_id, installation_id, task_id } = told.data
  const counted = (name: string, countable: Countable): string => {
    counts.set(name, countable)
    return name
  }
  const once = () => counted(`event ${id}`, countOnce(store, told, spread))
  const filed = (ended: boolean): string => {
    const run = told.record as Run | undefined
    if (run) runs.set(run_id, { run, ended: ended || runs.get(run_id)?.ended === true })
    return run_id
  }
  const approval = () =>
    counted(
      `approval ${run_id}`,
      countApproval(workspace_id, { installation_id, id: run_id }, told.record as Run | undefined),
    )
  switch (type) {
    case 'task.created':
    case 'task.updated':
      return [counted(`task ${task_id}`, countTask({ workspace_id, id: task_id }, told.record as Task | undefined))]
    case 'installation.created':
    case 'installation.removed':
      return [once()]
    case 'run.created':
      return [once(), filed(false)]
    case 'run.succeeded':
    case 'run.failed':
    case 'run.cancelled':
      // The run may have been awaiting approval until now.
      return [once(), filed(true), approval()]
    default:
      return [approval()]
  }
}

const countOnce = (store: Store, told: LoadedEvent, spread: string): Countable => {
  const { id: event_id, created_at, workspace_id } = told.event
  return {
    near: `${told.data.app_id}#${workspace_id}#${told.data.installation_id}`,
    reads: (again) => (again ? [CountedEventEntity.ref({ event_id })] : []),
    writes: ([mark]) =>
      mark ? [] : [CountedEventEntity.create({ event_id, created_at }), ...counterWrites(store, told, spread)],
  }
}

/** Writes a run to the admin index and, once it has ended, to its app's log. The writes are idempotent. */
export const fileRun = async ({ table }: Store, { run, ended }: Filing): Promise<void> => {
  const entries = ended ? logWrites(run) : []
  await Promise.all([indexRun({ table }, run), ...entries.map((entry) => table.transact([entry]))])
}
