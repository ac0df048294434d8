import { carryHanded, fanOutEvent } from '#shared/delivery/fan-out/index.ts'
import { BusMessage } from '#shared/foundation/queues/index.ts'
import type { QueueWorker } from '#shared/http/worker.ts'

/** Delivers events to feeds and webhook subscriptions. Those that a request handed over are counted as well. */
export const worker: QueueWorker = {
  name: 'fan-out',
  source: { kind: 'queue', queue: 'fanout' },
  needs: ['table:read', 'table:write', 'queue:delivery', 'queue:live', 'queue:statistics'],
  timeoutSeconds: 60,
  async handle(work, message) {
    const { detail } = BusMessage.parse(message)
    // Once it is overdue, the sweeper publishes it for the statistics as well.
    const isEarly = detail.due_at !== undefined && detail.due_at > work.clock.now()
    const isHanded = detail.carried && (detail.is_held || isEarly)
    await (isHanded ? carryHanded(work, detail) : fanOutEvent(work, detail.id))
  },
}
