import type { WorkerWork } from '#shared/foundation/work/index.ts'
import { isActive, type Run } from '#shared/work/runs/index.ts'
import type { Task } from '#shared/work/tasks/index.ts'
import { indexRun, removeActiveEntry } from '../observed-runs/index-run.ts'
import type { Countable } from './count-exactly-once.ts'
import { counterWrites, type LoadedEvent } from './counter-writes.ts'
import { type CountedEvent, CountedEventEntity } from './entity.ts'
import { logWrites } from './log.ts'
import { countApproval, countTask } from './workspace.ts'

interface Store extends Pick<WorkerWork, 'table'> {
  /** True once no function of the version before runs, which doesn't know a marker for start and end. */
  isLean: boolean
}

/** A run to be written to its index and log. */
interface Filing {
  run: Run
  /** True once the run's end was reported, so that it belongs in its app's log. */
  ended: boolean
}

/** True for the event of a run's start if the event of its end will count both. */
const isCountedAtEnd = (run: Run | undefined): run is Run & { created_event: string } =>
  run?.created_event !== undefined && !isActive(run.status)

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
  const run = told.record as Run | undefined
  const once = () => counted(`event ${id}`, countOnce(store, told, spread))
  const filed = (ended: boolean): string => {
    if (run) runs.set(run_id, { run, ended: ended || runs.get(run_id)?.ended === true })
    return run_id
  }
  const approval = () =>
    counted(`approval ${run_id}`, countApproval(workspace_id, { installation_id, id: run_id }, run))
  switch (type) {
    case 'task.created':
    case 'task.updated':
      return [counted(`task ${task_id}`, countTask({ workspace_id, id: task_id }, told.record as Task | undefined))]
    case 'installation.created':
    case 'installation.removed':
      return [once()]
    case 'run.created':
      return isCountedAtEnd(run) ? [filed(false)] : [once(), filed(false)]
    case 'run.succeeded':
    case 'run.failed':
    case 'run.cancelled':
      // The run may have been awaiting approval until now.
      return [
        isCountedAtEnd(run) ? counted(`event ${id}`, countEnd(store, told, run, spread)) : once(),
        filed(true),
        approval(),
      ]
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

/**
 * Counts a run's end, and its start unless that was counted while the run was active. Then each event has its own marker.
 * Otherwise the start's marker says that the end was counted with it. It doesn't matter which of the two events is handled
 * first or how often.
 */
const countEnd = (
  store: Store,
  told: LoadedEvent,
  { created_event, created_at }: Run & { created_event: string },
  spread: string,
): Countable => {
  const { event } = told
  const start: LoadedEvent = { ...told, event: { ...event, id: created_event, type: 'run.created', created_at } }
  const [started, ended] = [countOnce(store, start, spread), countOnce(store, told, spread)]
  return {
    near: ended.near,
    // A long run's start was usually counted before, so its marker is read first. Failed transactions cost as much as others.
    reads: (again) => [CountedEventEntity.ref({ event_id: created_event }), ...ended.reads(again)],
    writes: ([startMark, endMark]) => {
      if ((startMark as CountedEvent | undefined)?.ended) return []
      if (startMark || !store.isLean) return [...started.writes([startMark]), ...ended.writes([endMark])]
      return [
        CountedEventEntity.create({ event_id: created_event, created_at, ended: true }),
        ...counterWrites(store, start, spread),
        ...counterWrites(store, told, spread),
      ]
    },
  }
}

/** Writes a run to the admin index and, once it has ended, to its app's log. The writes are idempotent. */
export const fileRun = async ({ table, isLean }: Store, { run, ended }: Filing): Promise<void> => {
  if (!ended && isCountedAtEnd(run)) {
    // The event of its end files it. Before that one was handled, nothing can be left of an earlier delivery of this one
    // that the end won't remove.
    if (await table.get(CountedEventEntity, { event_id: run.created_event })) await removeActiveEntry({ table }, run)
    return
  }
  const entries = ended ? logWrites(run, isLean) : []
  const wasListed = !isLean || !ended || (await wasCountedActive({ table }, run))
  await Promise.all([indexRun({ table }, run, wasListed), ...entries.map((entry) => table.transact([entry]))])
}

/**
 * Returns true if a run's start was counted while the run was active, so that the run was listed as active as well. One whose
 * worker died between the two is listed again when its event is redelivered, which corrects the list.
 */
const wasCountedActive = async ({ table }: Pick<Store, 'table'>, { created_event }: Run): Promise<boolean> => {
  if (created_event === undefined) return true
  const mark = await table.get(CountedEventEntity, { event_id: created_event })
  return mark !== undefined && mark.ended === undefined
}
