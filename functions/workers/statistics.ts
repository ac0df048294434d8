import type { OutboxEvent } from '#shared/foundation/outbox/index.ts'
import { EventMessage } from '#shared/foundation/queues/index.ts'
import type { BatchWorker } from '#shared/http/worker.ts'
import { countEvents } from '#shared/insight/statistics/index.ts'

/**
 * Counts events for apps' statistics and stores apps' logs. Each batch is handled at once, so that a counter is written
 * once per batch.
 */
export const worker: BatchWorker = {
  name: 'statistics',
  source: { kind: 'queue', queue: 'statistics' },
  needs: ['table:read', 'table:write'],
  timeoutSeconds: 30,
  async handleBatch(work, messages) {
    const failed = new Map<number, unknown>()
    const places = new Map<OutboxEvent, number>()
    for (const [place, message] of messages.entries()) {
      const { success, data, error } = EventMessage.safeParse(message)
      if (success) places.set(data.event, place)
      else failed.set(place, error)
    }
    for (const [event, error] of await countEvents(work, [...places.keys()])) failed.set(places.get(event) ?? -1, error)
    return failed
  },
}
