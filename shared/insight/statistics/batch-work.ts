import type { Ref } from '#shared/table/entity.ts'
import { createdEventId, isActive, type Run } from '#shared/work/runs/index.ts'
import type { Task } from '#shared/work/tasks/index.ts'
import { activeKey, listActiveRun, unlistActiveRun } from '../observed-runs/active-runs.ts'
import { type ActiveRun, ActiveRunEntity } from '../observed-runs/entity.ts'
import { indexRun } from '../observed-runs/index-run.ts'
import type { Countable } from './count-exactly-once.ts'
import { type Counting, counterWrites, type LoadedEvent } from './counter-writes.ts'
import { AppLogEntity, CountedEventEntity } from './entity.ts'
import { logEntryOf, logWrites, placesInLog } from './log.ts'
import { FINISHED } from './schemas.ts'
import { countApproval, countTask } from './workspace.ts'

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
  store: Counting,
  loaded: LoadedEvent,
  spread: string,
  { counts, runs }: BatchWork,
): string[] => {
  const { type, id, workspace_id } = loaded.event
  const { run_id, installation_id, task_id } = loaded.data
  const counted = (name: string, countable: Countable): string => {
    counts.set(name, countable)
    return name
  }
  const run = loaded.record as Run | undefined
  const filed = (ended: boolean): string => {
    if (run) runs.set(run_id, { run, ended: ended || runs.get(run_id)?.ended === true })
    return run_id
  }
  const approval = () =>
    counted(`approval ${run_id}`, countApproval(workspace_id, { installation_id, id: run_id }, run))
  switch (type) {
    case 'task.created':
    case 'task.updated':
      return [counted(`task ${task_id}`, countTask({ workspace_id, id: task_id }, loaded.record as Task | undefined))]
    case 'installation.created':
    case 'installation.removed':
      return [counted(`event ${id}`, countOnce(store, loaded, spread))]
    case 'run.created':
      return [run ? filed(false) : counted(`event ${id}`, countStartOfRemoved(store, loaded, spread))]
    case 'run.succeeded':
    case 'run.failed':
    case 'run.cancelled':
      // The run may have been awaiting approval until now.
      return [counted(`event ${id}`, countReportedEnd(store, loaded, run, spread)), filed(true), approval()]
    default:
      return [approval()]
  }
}

const nearOf = ({ event, data: { app_id, installation_id } }: LoadedEvent): string =>
  `${app_id}#${event.workspace_id}#${installation_id}`

const countOnce = (store: Counting, loaded: LoadedEvent, spread: string): Countable => {
  const { id: event_id, created_at } = loaded.event
  return {
    near: nearOf(loaded),
    reads: (again) => (again ? [CountedEventEntity.ref({ event_id })] : []),
    writes: ([mark]) =>
      mark ? [] : [CountedEventEntity.create({ event_id, created_at }), ...counterWrites(store, loaded, spread)],
  }
}

/** Returns the key under which the event's run is listed while it is active. */
const activeKeyOf = ({ event, data: { app_id, run_id } }: LoadedEvent) =>
  activeKey({ app_id, workspace_id: event.workspace_id, run_id })

const startOf = ({ event, ...loaded }: LoadedEvent, created_at: Run['created_at']): LoadedEvent => ({
  ...loaded,
  event: { ...event, id: createdEventId(loaded.data.run_id), type: 'run.created', created_at },
})

const countReportedEnd = (store: Counting, loaded: LoadedEvent, run: Run | undefined, spread: string): Countable => {
  if (!run) return countEndOfRemoved(store, loaded, spread)
  // An event that somebody made up may report the end of an active run. The run is still listed, and its own end counts it.
  return (isActive(run.status) ? countOnce : countRun)(store, loaded, spread)
}

/**
 * Counts a run's start and end. Its entry in the app's log is the marker. The same transaction takes the run out of the list
 * of active ones, which figures add.
 */
const countRun = (store: Counting, loaded: LoadedEvent, spread: string): Countable => {
  const run = loaded.record as Run
  const entry = logEntryOf(run)
  return {
    near: nearOf(loaded),
    reads: (again) => [ActiveRunEntity.ref(activeKeyOf(loaded)), ...(again ? [AppLogEntity.ref(entry)] : [])],
    writes: ([active, logged]) => {
      const unlisted = active ? [ActiveRunEntity.delete(activeKeyOf(loaded))] : []
      if (logged) return unlisted
      return [
        AppLogEntity.create(entry),
        ...unlisted,
        ...counterWrites(store, startOf(loaded, run.created_at), spread),
        ...counterWrites(store, loaded, spread),
      ]
    },
  }
}

/** Returns references to a run's entry in its app's log, whose status is known from its record only. */
const loggedRefs = ({ data: { app_id, run_id } }: LoadedEvent): Ref[] =>
  placesInLog(app_id, run_id).map((place) => AppLogEntity.ref(place))

/** Counts the end of a run whose record was removed, and its start as well if it is still listed as active. */
const countEndOfRemoved = (store: Counting, loaded: LoadedEvent, spread: string): Countable => {
  const ended = countOnce(store, loaded, spread)
  return {
    near: ended.near,
    reads: (again) => [ActiveRunEntity.ref(activeKeyOf(loaded)), ...loggedRefs(loaded), ...ended.reads(again)],
    writes: ([active, ...read]) => {
      const run = active as ActiveRun | undefined
      const endMark = read[FINISHED.length]
      // It was counted before its record was removed.
      if (read.slice(0, FINISHED.length).some(Boolean)) return []
      if (!run) return ended.writes([endMark])
      const start = startOf(loaded, run.created_at)
      return [
        ActiveRunEntity.delete(activeKeyOf(loaded), { where: { created_at: run.created_at } }),
        ...(endMark ? [] : ended.writes([endMark])),
        CountedEventEntity.replace({ event_id: start.event.id, created_at: run.created_at }),
        ...counterWrites(store, { ...start, listed: run }, spread),
      ]
    },
  }
}

/** Counts the start of a run whose record was removed, unless that was counted with its end, or will be. */
const countStartOfRemoved = (store: Counting, loaded: LoadedEvent, spread: string): Countable => {
  const started = countOnce(store, loaded, spread)
  return {
    near: started.near,
    reads: (again) => [ActiveRunEntity.ref(activeKeyOf(loaded)), ...loggedRefs(loaded), ...started.reads(again)],
    writes: (read) => {
      const counted = read.slice(0, FINISHED.length + 1)
      return counted.some(Boolean) ? [] : started.writes(read.slice(counted.length))
    },
  }
}

/** Lists a run as active or, once it has ended, in the admin index and in its app's log. The writes are idempotent. */
export const fileRun = async (store: Pick<Counting, 'table'>, { run, ended }: Filing): Promise<void> => {
  if (!ended) return fileStart(store, run)
  // A made-up event reports the end of an active run, which has no place among the ended ones.
  if (isActive(run.status)) return
  const { table } = store
  await Promise.all([indexRun(store, run), ...logWrites(run).map((entry) => table.transact([entry]))])
}

/** Lists a run as active, unless it has ended. */
const fileStart = async ({ table }: Pick<Counting, 'table'>, run: Run): Promise<void> => {
  if (isActive(run.status)) return listActiveRun({ table }, run)
  const [logged, active] = await table.getAll([
    AppLogEntity.ref(logEntryOf(run)),
    ActiveRunEntity.ref(activeKey({ ...run, run_id: run.id })),
  ] as const)
  // A worker died after it listed the run, which had ended and been counted meanwhile.
  if (logged && active) await unlistActiveRun({ table }, run)
}
