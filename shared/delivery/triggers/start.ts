import { handleScheduleEvent, type Trigger, TriggerEntity } from '#shared/agents/schedules/index.ts'
import { matchesMask, OutboxEntity, type OutboxEvent } from '#shared/foundation/outbox/index.ts'
import type { TriggerMessage } from '#shared/foundation/queues/index.ts'
import type { WorkerWork } from '#shared/foundation/work/index.ts'
import { SECOND } from '#shared/kernel/clock.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { matchesFilter } from '../webhooks/filter.ts'

/** Returns true for events that say what became of schedules and deliveries. Runs that they start would cause more of them. */
export const startsNone = (type: string): boolean => type.startsWith('schedule.') || type === 'webhook.test'

/** Time until a schedule that couldn't be started is tried again. */
const AGAIN_AFTER = 5 * SECOND

/**
 * Starts what an installation's schedules start at an event that it may read. May be repeated. A developer's sample event starts
 * nothing. The event's deliveries wait for it, so a start that fails, for example because too many events change the schedule at
 * once, is left to a message of its own.
 */
export const startTriggered = async (work: WorkerWork, installation_id: string, event: OutboxEvent): Promise<void> => {
  if (event.test || startsNone(event.type)) return
  const { items } = await work.table.query(
    TriggerEntity,
    { installation_id },
    { limit: LIMITS.schedulesPerInstallation },
  )
  const named = items.filter((trigger) => matchesMask([trigger.event], event.type))
  if (named.length === 0) return
  const data: unknown = JSON.parse(event.data)
  for (const trigger of named) {
    const filter = Object.fromEntries(Object.entries(trigger.match ?? {}).map(([path, value]) => [path, [value]]))
    if (matchesFilter(filter, data)) await startOrLeave(work, trigger, event)
  }
}

const startOrLeave = async (work: WorkerWork, trigger: Trigger, event: OutboxEvent): Promise<void> => {
  try {
    await handleScheduleEvent(work, trigger, event)
  } catch (error) {
    const { workspace_id, schedule_id } = trigger
    work.log.warn('a schedule is left to a message', { schedule_id, event_id: event.id, error })
    const body: TriggerMessage = { kind: 'trigger', event_id: event.id, workspace_id, schedule_id }
    await work.queues.send('fanout', [{ body, group: schedule_id, delayMs: AGAIN_AFTER }])
  }
}

/** Starts a schedule whose start failed before, unless the event is gone. */
export const startTriggeredAgain = async (
  work: WorkerWork,
  { event_id, workspace_id, schedule_id }: TriggerMessage,
): Promise<void> => {
  const event = await work.table.get(OutboxEntity, { id: event_id })
  if (event) await handleScheduleEvent(work, { workspace_id, schedule_id }, event)
}
