import type { Work } from '#shared/foundation/work/index.ts'
import { newNotification } from '#shared/identity/notifications/index.ts'
import { atLeast, listMembers } from '#shared/identity/people/index.ts'
import { msg } from '#shared/kernel/messages.ts'
import { cleanName } from '#shared/kernel/names.ts'
import { auditEntry } from '#shared/staff/audit/index.ts'
import { ifUnchanged, type Write } from '#shared/table/entity.ts'
import { emitPaused } from './emit.ts'
import { type Occurrence, OccurrenceEntity, type Schedule, ScheduleEntity } from './entity.ts'
import { activityWrites } from './limits.ts'

/** Admins who are notified of one pause. */
const MOST_NOTIFIED = 10
const PAGE = 100

/** Writes for a status in which a schedule starts nothing. What waited makes no run. */
const stopWrites = (schedule: Schedule, set: Partial<Schedule>): Write[] => [
  ScheduleEntity.update(
    schedule,
    { set: { ...set, next_at: undefined, waiting: undefined, due_at: undefined, revision: schedule.revision + 1 } },
    { where: { revision: schedule.revision } },
  ),
  ...activityWrites(schedule, { ...schedule, ...set }),
]

/** Marks an occurrence that waited for a run when its schedule stopped. */
export const skipWaiting = ({ id: schedule_id, waiting }: Schedule, set: Partial<Schedule> = {}): Write[] =>
  // One that is settled in the same transaction has its own write.
  waiting && !('waiting' in set)
    ? [
        OccurrenceEntity.update(
          { schedule_id, id: waiting.id },
          { set: { status: 'skipped', reason: 'paused' } satisfies Partial<Occurrence> },
        ),
      ]
    : []

/** Writes that end a schedule for good. */
export const endWrites = (schedule: Schedule, set: Partial<Schedule>, now: number): Write[] => [
  ...stopWrites(schedule, { ...set, status: 'ended', changed_at: now }),
  ...skipWaiting(schedule, set),
]

/** Ends a schedule that is about to be deleted, so that it no longer counts. */
export const stopSchedule = async (work: Work, schedule: Schedule): Promise<void> => {
  if (schedule.status === 'active') await ifUnchanged(work.table.transact(endWrites(schedule, {}, work.clock.now())))
}

/** Writes that pause an active schedule, tell the app, and notify its creator, or the admins if nobody else can act. */
export const pauseWrites = async (
  work: Work,
  schedule: Schedule,
  set: Partial<Schedule>,
  reason: 'failures' | 'creator_left',
  now: number,
): Promise<Write[]> => {
  const paused: Schedule = { ...schedule, ...set, status: 'paused', paused_reason: reason }
  const people =
    reason === 'failures' && schedule.created_by.type === 'user'
      ? [schedule.created_by.id]
      : await listAdmins(work, schedule)
  return [
    ...stopWrites(schedule, { ...set, status: 'paused', paused_reason: reason, changed_at: now }),
    ...skipWaiting(schedule, set),
    emitPaused(work, paused),
    ...people.flatMap((user_id) => notify(work, paused, user_id, reason)),
    auditEntry(work, {
      scope: schedule.workspace_id,
      action: 'schedule.paused',
      actor: { type: 'system', id: 'schedules' },
      target: { type: 'schedule', id: schedule.id },
      details: { name: schedule.name, reason },
      private_to: schedule.private_to,
    }),
  ]
}

const listAdmins = async (work: Work, { workspace_id }: Schedule): Promise<string[]> => {
  const { items } = await listMembers(work, workspace_id, { limit: PAGE })
  return items
    .filter(({ member, user }) => atLeast(member.role, 'admin') && user?.status === 'active')
    .slice(0, MOST_NOTIFIED)
    .map(({ member }) => member.user_id)
}

const notify = (
  work: Work,
  { workspace_id, installation_id, app_id, id, name, private_to, last_error }: Schedule,
  user_id: string,
  reason: 'failures' | 'creator_left',
): Write[] =>
  newNotification(work, {
    workspace_id,
    user_id,
    kind: 'schedule.paused',
    title:
      private_to !== undefined && private_to !== user_id
        ? msg('A private schedule was paused')
        : msg('Schedule paused: {name}', { name: cleanName(name) }),
    body:
      reason === 'failures'
        ? [msg('It failed five times in a row. The last error:'), last_error ?? '-']
        : msg('The person who created it is no longer a member. An admin can resume it, and then it acts for them.'),
    installation_id,
    app_id,
    target: { type: 'schedule', id },
  }).writes
