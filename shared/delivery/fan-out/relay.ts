import type { OutboxEvent } from '#shared/foundation/outbox/index.ts'
import type { WorkerWork } from '#shared/foundation/work/index.ts'

/**
 * Publishes outbox events on the bus, in order.
 * @returns the index of the first event that the bus did not accept; this event and all later ones must be redelivered
 */
export const relayEvents = async (
  { bus, log }: Pick<WorkerWork, 'bus' | 'log'>,
  events: readonly OutboxEvent[],
): Promise<number | undefined> => {
  const { taken, error } = await bus.put(events)
  if (taken === events.length) return undefined
  log.error('events were not relayed', { first: events[taken]?.id, count: events.length - taken, error })
  return taken
}
