import type { OutboxEvent } from '#shared/foundation/outbox/index.ts'
import type { WorkerWork } from '#shared/foundation/work/index.ts'
import { restoreTrace } from '#shared/kernel/tracing/context.ts'
import { inBatch } from '#shared/kernel/tracing/scope.ts'

/**
 * Publishes outbox events on the bus, in order.
 * @returns the index of the first event that the bus did not accept; this event and all later ones must be redelivered
 */
export const relayEvents = async (
  { bus, log }: Pick<WorkerWork, 'bus' | 'log'>,
  events: readonly OutboxEvent[],
): Promise<number | undefined> => {
  const traces = events.map(({ trace }) => trace && restoreTrace(trace))
  const { taken, error } = await inBatch('relay', traces, () => bus.put(events))
  if (taken === events.length) return undefined
  log.error('events were not relayed', { first: events[taken]?.id, count: events.length - taken, error })
  return taken
}
