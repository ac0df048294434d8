import { handleScheduleEvent, TriggerEntity } from '#shared/agents/schedules/index.ts'
import { matchesMask, type OutboxEvent } from '#shared/foundation/outbox/index.ts'
import type { WorkerWork } from '#shared/foundation/work/index.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { matchesFilter } from '../webhooks/filter.ts'

/** Returns true for events that say what became of schedules and deliveries. Runs that they start would cause more of them. */
export const startsNone = (type: string): boolean => type.startsWith('schedule.') || type === 'webhook.test'

/**
 * Starts what an installation's schedules start at an event that it may read. May be repeated. A developer's sample event starts
 * nothing.
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
    if (matchesFilter(filter, data)) await handleScheduleEvent(work, trigger, event)
  }
}
