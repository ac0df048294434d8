import type { OutboxEvent } from '#shared/foundation/outbox/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { siblingId, stampOf } from '#shared/kernel/ids.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import { presentRun, type RunView } from '#shared/work/runs/index.ts'
import { OccurrenceEntity, type Schedule, ScheduleEntity } from './entity.ts'
import { dueAt } from './next.ts'
import { loadScene, prepareRun } from './prepare.ts'
import { loadSchedule, type Manager } from './read.ts'
import type { RunSchedule } from './schemas.ts'

/** Loads an event that an installation may read. Later contexts know which it may. @throws `validation_error` */
export type LoadEvent = (work: Work, schedule: Schedule, eventId: string) => Promise<OutboxEvent>

/**
 * Starts a run of a schedule now, for the caller, whatever its `overlap`. Its times don't change.
 * @param given the event that the run gets, of a schedule that events start
 * @throws `not_found`, `validation_error`, and why the agent can't be started
 */
export const runScheduleNow = async (
  work: Work,
  by: Manager,
  id: string,
  { event_id }: RunSchedule,
  loadEvent: LoadEvent,
): Promise<RunView> => {
  const occurrenceId = work.id('occurrence')
  const runId = siblingId('run', occurrenceId)
  return retryOnConflict(async () => {
    const schedule = await loadSchedule(work, by, id)
    const scene = await loadScene(work, schedule)
    if (!scene) throw fail('not_found', { message: 'The agent is no longer installed.' })
    const actor = by.type === 'user' ? { id: by.id, name: by.name } : undefined
    const event = event_id === undefined ? undefined : await loadEvent(work, schedule, event_id)
    const prepared = await prepareRun(work, schedule, scene, { runId, actor, event, isTry: true })
    const { created_at } = prepared.run
    const now = work.clock.now()
    const set = {
      last: { at: created_at, status: 'started' as const, run_id: runId },
      run_id: runId,
      run_counted: undefined,
      revision: schedule.revision + 1,
    }
    const view = await presentRun(work, prepared.run)
    await work.commit(
      [
        ...prepared.writes,
        ScheduleEntity.update(
          schedule,
          { set: { ...set, due_at: dueAt({ ...schedule, ...set }, now) } },
          { where: { revision: schedule.revision } },
        ),
        OccurrenceEntity.create({
          ...stampOf(occurrenceId),
          schedule_id: id,
          installation_id: schedule.installation_id,
          status: 'started',
          at: created_at,
          event: event && { id: event.id, type: event.type },
          run_id: runId,
        }),
      ],
      view,
    )
    return view
  })
}
