import type { Run } from '../../entities/runs.ts'
import { CountedEventEntity } from '../../entities/statistics.ts'
import type { Task } from '../../entities/tasks.ts'
import type { WorkerWork } from '../deps.ts'
import { placeRun } from '../observation/place-run.ts'
import { addsOf, type Told } from './adds.ts'
import { logWrites } from './log.ts'
import type { Countable } from './settle.ts'
import { countApproval, countTask } from './workspace.ts'

type Store = Pick<WorkerWork, 'table'>

/** A run that is to be put where it is found. */
interface Filing {
  run: Run
  /** Its end is told: it belongs into its app's log. */
  ended: boolean
}

/** What follows from a batch, each by a name, so that it is done once for all events that it follows from. */
export interface Following {
  counts: Map<string, Countable>
  runs: Map<string, Filing>
}

/**
 * Adds what follows from an event.
 * @param spread what chooses the shards of what the event adds to
 * @returns the names of what follows
 */
export const follow = (store: Store, told: Told, spread: string, { counts, runs }: Following): string[] => {
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
      // It may have waited for an approval until now.
      return [once(), filed(true), approval()]
    default:
      return [approval()]
  }
}

const countOnce = (store: Store, told: Told, spread: string): Countable => {
  const { id: event_id, created_at, workspace_id } = told.event
  return {
    near: `${told.data.app_id}#${workspace_id}#${told.data.installation_id}`,
    reads: (again) => (again ? [{ entity: CountedEventEntity, key: CountedEventEntity.key({ event_id }) }] : []),
    writes: ([mark]) =>
      mark ? [] : [CountedEventEntity.create({ event_id, created_at }), ...addsOf(store, told, spread)],
  }
}

/** Puts a run where staff finds it, and into its app's log once it has ended: plain writes, the same at every try. */
export const fileRun = async ({ table }: Store, { run, ended }: Filing): Promise<void> => {
  const entries = ended ? logWrites(run) : []
  await Promise.all([placeRun({ table }, run), ...entries.map((entry) => table.transact([entry]))])
}
