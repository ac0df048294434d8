import type { Work } from '#shared/foundation/work/index.ts'
import { iso } from '#shared/kernel/clock.ts'
import { fail } from '#shared/kernel/errors.ts'
import { isId, stampOf } from '#shared/kernel/ids.ts'
import { auditEntry } from '#shared/staff/audit/index.ts'
import type { Write } from '#shared/table/entity.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import { type CheckEvent, checkStart, checkWhen } from './check.ts'
import { emitPaused } from './emit.ts'
import { isTimed, type Schedule, ScheduleEntity } from './entity.ts'
import { activityWrites } from './limits.ts'
import { dueAt, nextAfter, nextTimes } from './next.ts'
import { skipWaiting } from './pause.ts'
import { hasCreator, loadScene, requireWorking, type Scene } from './prepare.ts'
import { presentSchedule, SHOWN_TIMES } from './present.ts'
import { requireProposal } from './proposals.ts'
import { loadSchedule, type Manager } from './read.ts'
import type { ChangeSchedule, NewSchedule, PreviewSchedule, ScheduleView } from './schemas.ts'

/** Returns the audit entry of a change. It names what changed, and never what the runs start with. */
const audited = (
  work: Work,
  by: Manager,
  verb: 'created' | 'changed' | 'paused' | 'resumed' | 'deleted',
  { id, name, when, private_to }: Schedule,
  details: object = {},
): Write =>
  auditEntry(work, {
    scope: by.workspace_id,
    action: `schedule.${verb}`,
    actor: { type: by.type === 'user' ? 'user' : 'installation', id: by.id },
    target: { type: 'schedule', id },
    details: { name, when, ...details },
    private_to,
  })

const requireScene = async (
  work: Work,
  schedule: Pick<Schedule, 'workspace_id' | 'installation_id'>,
): Promise<Scene> => {
  const scene = isId('installation', schedule.installation_id) ? await loadScene(work, schedule) : undefined
  if (!scene) throw fail('not_found', { message: 'Installation not found.' })
  requireWorking(scene)
  return scene
}

/** Returns the time of `ends_at` in a body. */
const endOf = (text: string | null | undefined): number | undefined => (text ? Date.parse(text) : undefined)

/**
 * Creates a schedule.
 * @throws `not_found`, `validation_error`, `insufficient_scope`, `tool_not_offered`, `invalid_arguments`,
 *   `payload_too_large`, `app_suspended`, `installation_suspended`, `access_withdrawn`; `conflict` at the limit of active ones
 */
export const createSchedule = async (
  work: Work,
  by: Manager,
  { installation_id, ...given }: NewSchedule & { installation_id: string; proposal?: string | undefined },
  checkEvent: CheckEvent,
): Promise<ScheduleView> => {
  const now = work.clock.now()
  const scene = await requireScene(work, { workspace_id: by.workspace_id, installation_id })
  const ends_at = endOf(given.ends_at)
  const when = checkWhen(given.when, { now, ends_at, scene, checkEvent })
  const start = await checkStart(work, given.start, scene, by.type === 'user')
  if (given.proposal !== undefined) await requireProposal(work, scene, given.proposal)
  const timing = { when, anchor: now, ends_at, status: 'active' as const }
  const next_at = nextAfter(timing, now)
  const schedule: Schedule = {
    ...stampOf(work.id('schedule')),
    workspace_id: by.workspace_id,
    installation_id,
    app_id: scene.installation.app_id,
    name: given.name,
    start,
    ...timing,
    overlap: given.overlap,
    missed: given.missed,
    revision: 0,
    next_at,
    failures: 0,
    created_by: { type: by.type, id: by.id, name: by.name },
    private_to: given.start.message === undefined ? undefined : by.id,
    proposal: given.proposal,
    changed_at: now,
    due_at: dueAt({ ...timing, next_at, waiting: undefined }, now),
  }
  const view = await presentSchedule(work, schedule)
  await work.commit(
    [ScheduleEntity.create(schedule), ...activityWrites(undefined, schedule), audited(work, by, 'created', schedule)],
    view,
  )
  return view
}

/**
 * Returns the next times of a schedule that isn't saved. One that events start has none.
 * @throws as {@link createSchedule}
 */
export const previewSchedule = (work: Work, given: PreviewSchedule): { next_times: string[] } => {
  const now = work.clock.now()
  const ends_at = endOf(given.ends_at)
  const when = checkWhen(given.when, { now, ends_at })
  return { next_times: nextTimes({ when, anchor: now, ends_at }, now, SHOWN_TIMES).map(iso) }
}

/** Changes a schedule as it is now, again if it was changed meanwhile. @param change returns the fields to set, or none */
const changeWith = (
  work: Work,
  by: Manager,
  id: string,
  change: (schedule: Schedule) => Promise<{ set: Partial<Schedule>; writes(changed: Schedule): Write[] } | undefined>,
): Promise<ScheduleView> =>
  retryOnConflict(async () => {
    const schedule = await loadSchedule(work, by, id)
    const changes = await change(schedule)
    if (!changes) return presentSchedule(work, schedule)
    const now = work.clock.now()
    const set = { ...changes.set, revision: schedule.revision + 1, changed_at: now }
    const changed: Schedule = { ...schedule, ...set }
    const due_at = dueAt(changed, now)
    const view = await presentSchedule(work, changed)
    await work.commit(
      [
        ScheduleEntity.update(schedule, { set: { ...set, due_at } }, { where: { revision: schedule.revision } }),
        ...activityWrites(schedule, changed),
        ...changes.writes(changed),
      ],
      view,
    )
    return view
  })

const refuseEnded = ({ status }: Schedule): void => {
  if (status !== 'ended') return
  throw fail('conflict', { message: 'The schedule has ended.', fix: 'Create a new one.' })
}

/** Changes a schedule. Another `when` counts from now. @throws as {@link createSchedule}; `conflict` for one that has ended */
export const changeSchedule = (
  work: Work,
  by: Manager,
  id: string,
  { name, start, when, overlap, missed, ends_at }: ChangeSchedule,
  checkEvent: CheckEvent,
): Promise<ScheduleView> =>
  changeWith(work, by, id, async (schedule) => {
    refuseEnded(schedule)
    const now = work.clock.now()
    const scene = await requireScene(work, schedule)
    const end = ends_at === undefined ? schedule.ends_at : endOf(ends_at)
    const isRetimed = when !== undefined || ends_at !== undefined
    const checked = isRetimed
      ? checkWhen(when ?? schedule.when, { now, ends_at: end, scene, checkEvent })
      : schedule.when
    const set: Partial<Schedule> = {
      ...(name !== undefined && { name }),
      ...(overlap !== undefined && { overlap }),
      ...(missed !== undefined && { missed }),
      ...(start !== undefined && (await startFields(work, start, schedule, scene, by))),
      ...(isRetimed && { when: checked, ends_at: end }),
      ...(when !== undefined && { anchor: now, waiting: undefined }),
    }
    if (isRetimed) set.next_at = nextAfter({ ...schedule, ...set }, now)
    return {
      set,
      writes: (changed) => [
        ...(when === undefined ? [] : skipWaiting(schedule)),
        audited(work, by, 'changed', changed, { fields: Object.keys(set) }),
      ],
    }
  })

/** A schedule doesn't become another person's words, so only its creator makes it write messages, or stops it. */
const startFields = async (
  work: Work,
  start: NewSchedule['start'],
  { created_by, private_to }: Schedule,
  scene: Scene,
  by: Manager,
): Promise<Partial<Schedule>> => {
  const text = await checkStart(work, start, scene, by.type === 'user')
  if (start.message !== undefined && created_by.id !== by.id) {
    throw fail('forbidden', {
      message: 'Only the person who created the schedule can let it send messages in their name.',
      fix: 'Create a schedule of your own.',
    })
  }
  return { start: text, private_to: start.message === undefined ? undefined : (private_to ?? by.id) }
}

/** Pauses a schedule. Idempotent. @throws `not_found`; `conflict` for one that has ended */
export const pauseSchedule = (work: Work, by: Manager, id: string): Promise<ScheduleView> =>
  changeWith(work, by, id, async (schedule) => {
    refuseEnded(schedule)
    if (schedule.status === 'paused') return undefined
    const paused_reason = by.type === 'user' ? ('by_person' as const) : ('by_app' as const)
    return {
      set: { status: 'paused', paused_reason, next_at: undefined, waiting: undefined },
      writes: (changed) => [...skipWaiting(schedule), emitPaused(work, changed), audited(work, by, 'paused', changed)],
    }
  })

/**
 * Resumes a schedule from now on: what fell due meanwhile makes no run. Of a creator who left, the person who resumes it
 * takes the place. Idempotent.
 * @throws `not_found`; `conflict` for one that has ended, never falls due again, or at the limit of active ones
 */
export const resumeSchedule = (work: Work, by: Manager, id: string): Promise<ScheduleView> =>
  changeWith(work, by, id, async (schedule) => {
    refuseEnded(schedule)
    if (schedule.status === 'active') return undefined
    await requireScene(work, schedule)
    const now = work.clock.now()
    const next_at = nextAfter({ ...schedule, anchor: now }, now)
    const isOver = schedule.ends_at !== undefined && schedule.ends_at <= now
    if (isOver || (isTimed(schedule.when) && next_at === undefined)) {
      throw fail('conflict', { message: 'The schedule never falls due again.', fix: 'Change when it falls due.' })
    }
    const isOrphan = !(await hasCreator(work, schedule))
    return {
      set: {
        status: 'active',
        paused_reason: undefined,
        last_error: undefined,
        failures: 0,
        run_counted: true,
        anchor: now,
        next_at,
        ...(isOrphan && { created_by: { type: by.type, id: by.id, name: by.name } }),
      },
      writes: (changed) => [audited(work, by, 'resumed', changed)],
    }
  })

/** Deletes a schedule. Its runs stay. @throws `not_found` */
export const deleteSchedule = (work: Work, by: Manager, id: string): Promise<void> =>
  retryOnConflict(async () => {
    const schedule = await loadSchedule(work, by, id)
    await work.commit([
      ScheduleEntity.delete(schedule, { where: { revision: schedule.revision } }),
      ...activityWrites(schedule, undefined),
      audited(work, by, 'deleted', schedule),
    ])
  })
