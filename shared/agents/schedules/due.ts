import { OutboxEntity, type OutboxEvent } from '#shared/foundation/outbox/index.ts'
import type { WorkerWork } from '#shared/foundation/work/index.ts'
import { PlatformError } from '#shared/kernel/errors.ts'
import { derivedId, siblingId, stampOf } from '#shared/kernel/ids.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import type { Key, Write } from '#shared/table/entity.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import { isActive, type Run, RunEntity } from '#shared/work/runs/index.ts'
import { emitSkipped } from './emit.ts'
import { isTimed, type Occurrence, OccurrenceEntity, type Schedule, ScheduleEntity, type Trigger } from './entity.ts'
import { dueAt, nextAfter } from './next.ts'
import { endWrites, pauseWrites } from './pause.ts'
import { hasCreator, loadCause, loadScene, prepareRun } from './prepare.ts'

/** A falling due that has to be settled: it makes a run, waits for one, or makes none. */
interface Falling {
  id: string
  at: number
  /** Its record, if it has waited. */
  record?: Occurrence
  /** Fields of the schedule that change in any case. */
  set: Partial<Schedule>
  isMissed?: boolean
  /** Event that starts the run. Absent once it is gone. */
  event?: OutboxEvent | undefined
}

/**
 * Settles what fell due of a schedule: each occurrence once, however many workers try and wherever they die. The change of
 * the schedule, the occurrence and the run are one transaction.
 */
export const handleDueSchedule = async (work: WorkerWork, key: Key): Promise<void> =>
  retryOnConflict(async () => {
    const schedule = await work.table.getByKey(ScheduleEntity, key)
    const now = work.clock.now()
    if (schedule?.status !== 'active' || schedule.due_at === undefined || schedule.due_at > now) return
    const falling = await findFalling(work, schedule, now)
    if (falling) await settle(work, schedule, falling, now)
    else await commit(work, schedule, {}, now)
  })

/**
 * Settles what an event makes fall due, once, however often the event is delivered. Nothing happens for one that was caused in a
 * chain in which the schedule started a run, and for one of a private conversation that isn't the schedule's
 * (contract/schedules.md#events).
 */
export const handleScheduleEvent = async (
  work: WorkerWork,
  { workspace_id, schedule_id }: Pick<Trigger, 'workspace_id' | 'schedule_id'>,
  event: OutboxEvent,
): Promise<void> => {
  const cause = await loadCause(work, event)
  if (cause?.chain_schedules?.includes(schedule_id)) return
  const private_to = event.private_to ?? cause?.private_to
  const id = derivedId('occurrence', event.created_at, schedule_id + event.id)
  await retryOnConflict(async () => {
    const [schedule, settled] = await work.table.getAll([
      ScheduleEntity.ref({ workspace_id, id: schedule_id }),
      OccurrenceEntity.ref({ schedule_id, id }),
    ] as const)
    if (settled || schedule?.status !== 'active' || isTimed(schedule.when)) return
    if (private_to !== undefined && schedule.private_to !== private_to) return
    const now = work.clock.now()
    if (isOver(schedule, now)) return commitEnd(work, schedule, now)
    await settle(work, schedule, { id, at: event.created_at, set: {}, event }, now)
  })
}

/** Finds what fell due: the next time, else the occurrence that waits. */
const findFalling = async (work: WorkerWork, schedule: Schedule, now: number): Promise<Falling | undefined> => {
  const { id, next_at, waiting } = schedule
  if (next_at !== undefined && next_at <= now) {
    const { latest, next } = latestOf(schedule, next_at, now)
    const late = now - latest
    const isMissed = schedule.missed === 'skip' ? late > LIMITS.scheduleMissed : late > LIMITS.scheduleMadeUp
    return { id: derivedId('occurrence', latest, id), at: latest, set: { next_at: next }, isMissed }
  }
  if (!waiting || isOver(schedule, now)) return undefined
  const record = await work.table.get(OccurrenceEntity, { schedule_id: id, id: waiting.id })
  const event = record?.event && (await work.table.get(OutboxEntity, { id: record.event.id }))
  return { id: waiting.id, at: waiting.at, set: { waiting: undefined }, ...(record && { record }), event }
}

/** Returns the latest time that has come, since only that may make a run, and the next. */
const latestOf = (schedule: Schedule, first: number, now: number): { latest: number; next: number | undefined } => {
  let latest = first
  // Times before this one would be too old, so that an outage of days doesn't make thousands of steps.
  let next = nextAfter(schedule, Math.max(first, now - LIMITS.scheduleMadeUp - 1))
  while (next !== undefined && next <= now) {
    latest = next
    next = nextAfter(schedule, next)
  }
  return { latest, next }
}

const settle = async (work: WorkerWork, schedule: Schedule, falling: Falling, now: number): Promise<void> => {
  const [scene, last] = await Promise.all([loadScene(work, schedule), loadLast(work, schedule)])
  if (!scene) return commitEnd(work, schedule, now)
  const result = countResult(schedule, last)
  if ((result.failures ?? schedule.failures) >= LIMITS.scheduleFailures)
    return commitPause(work, schedule, result, 'failures', now)
  if (!(await hasCreator(work, schedule))) return commitPause(work, schedule, result, 'creator_left', now)
  const counted = { ...falling.set, ...result }
  if (falling.isMissed) return skip(work, schedule, falling, counted, 'missed', now)
  if (schedule.overlap !== 'allow' && last && isActive(last.status)) {
    const mayWait = schedule.overlap === 'queue' && (falling.record !== undefined || schedule.waiting === undefined)
    return mayWait
      ? waitForRun(work, schedule, falling, counted, now)
      : skip(work, schedule, falling, counted, 'overlap', now)
  }
  const runId = siblingId('run', falling.id)
  const { created_by } = schedule
  const actor = created_by.type === 'user' ? { id: created_by.id, name: created_by.name } : undefined
  try {
    const prepared = await prepareRun(work, schedule, scene, { runId, actor, event: falling.event })
    const set = {
      ...counted,
      last: { at: falling.at, status: 'started' as const, run_id: runId },
      run_id: runId,
      run_counted: undefined,
    }
    const writes = changeWrites(schedule, set, now)
    const record = recordOf(schedule, falling, { status: 'started', run_id: runId })
    await work.commit([...prepared.writes, ...writes, recordWrite(falling, record)])
  } catch (error) {
    if (!(error instanceof PlatformError) || error.status >= 500) throw error
    await refuse(work, schedule, falling, counted, error, now)
  }
}

const loadLast = async ({ table }: WorkerWork, { installation_id, run_id }: Schedule): Promise<Run | undefined> =>
  run_id === undefined ? undefined : table.get(RunEntity, { installation_id, id: run_id })

/** Counts the result of the latest run, once. A cancelled run is no failure. */
const countResult = ({ run_counted, failures }: Schedule, last: Run | undefined): Partial<Schedule> => {
  if (!last || run_counted || isActive(last.status)) return {}
  if (last.status === 'failed')
    return { run_counted: true, failures: failures + 1, last_error: last.error_message ?? last.error_code ?? 'failed' }
  return last.status === 'succeeded' ? { run_counted: true, failures: 0, last_error: undefined } : { run_counted: true }
}

const recordOf = (
  { id: schedule_id, installation_id }: Schedule,
  { id, at, event, record }: Falling,
  result: Pick<Occurrence, 'status'> & Partial<Occurrence>,
): Occurrence => ({
  ...stampOf(id),
  schedule_id,
  installation_id,
  at,
  event: event ? { id: event.id, type: event.type } : record?.event,
  ...result,
})

const recordWrite = ({ record }: Falling, changed: Occurrence): Write =>
  record ? OccurrenceEntity.replace(changed, { where: { status: record.status } }) : OccurrenceEntity.create(changed)

/** Returns true for a schedule that never falls due again. */
const isOver = ({ when, waiting, next_at, ends_at }: Schedule, now: number): boolean =>
  isTimed(when) ? waiting === undefined && next_at === undefined : ends_at !== undefined && ends_at <= now

/** Writes that change a schedule. One without further times ends. */
const changeWrites = (schedule: Schedule, set: Partial<Schedule>, now: number): Write[] => {
  const changed = { ...schedule, ...set }
  if (isOver(changed, now)) return endWrites(schedule, set, now)
  return [
    ScheduleEntity.update(
      schedule,
      { set: { ...set, revision: schedule.revision + 1, due_at: dueAt(changed, now) } },
      { where: { revision: schedule.revision } },
    ),
  ]
}

const commit = (work: WorkerWork, schedule: Schedule, set: Partial<Schedule>, now: number, more: Write[] = []) =>
  work.commit([...changeWrites(schedule, set, now), ...more])

const commitEnd = (work: WorkerWork, schedule: Schedule, now: number) => work.commit(endWrites(schedule, {}, now))

const commitPause = async (
  work: WorkerWork,
  schedule: Schedule,
  set: Partial<Schedule>,
  reason: 'failures' | 'creator_left',
  now: number,
) => work.commit(await pauseWrites(work, schedule, set, reason, now))

const waitForRun = (
  work: WorkerWork,
  schedule: Schedule,
  falling: Falling,
  set: Partial<Schedule>,
  now: number,
): Promise<void> => {
  const waiting = falling.record && schedule.waiting ? schedule.waiting : { id: falling.id, at: falling.at, since: now }
  const record = falling.record ? [] : [recordWrite(falling, recordOf(schedule, falling, { status: 'waiting' }))]
  return commit(work, schedule, { ...set, waiting }, now, record)
}

const skip = (
  work: WorkerWork,
  schedule: Schedule,
  falling: Falling,
  set: Partial<Schedule>,
  reason: 'overlap' | 'missed',
  now: number,
): Promise<void> =>
  commit(work, schedule, { ...set, last: { at: falling.at, status: 'skipped', reason } }, now, [
    recordWrite(falling, recordOf(schedule, falling, { status: 'skipped', reason })),
    emitSkipped(work, schedule, falling.at, reason),
  ])

/** Notes that the agent couldn't be started, which counts as a failure. */
const refuse = async (
  work: WorkerWork,
  schedule: Schedule,
  falling: Falling,
  counted: Partial<Schedule>,
  { code, message }: PlatformError,
  now: number,
): Promise<void> => {
  const failures = (counted.failures ?? schedule.failures) + 1
  const set: Partial<Schedule> = {
    ...counted,
    failures,
    last_error: message,
    last: { at: falling.at, status: 'refused', reason: code },
  }
  const record = recordWrite(
    falling,
    recordOf(schedule, falling, { status: 'refused', reason: code, error: { code, message } }),
  )
  const writes =
    failures >= LIMITS.scheduleFailures
      ? await pauseWrites(work, schedule, set, 'failures', now)
      : changeWrites(schedule, set, now)
  await work.commit([...writes, record])
}
