import type { OutboxEvent } from '../../entities/events.ts'
import type { WorkerWork } from '../deps.ts'

/**
 * Puts outbox events on the bus, in their order.
 * @returns the index of the first that was not taken; all from it on are to come again
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
