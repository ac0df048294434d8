import { fanOutEvent } from '#shared/delivery/fan-out/index.ts'
import { BusMessage } from '#shared/foundation/queues/index.ts'
import type { QueueWorker } from '#shared/http/worker.ts'

/** Delivers events to feeds and webhook subscriptions. */
export const worker: QueueWorker = {
  name: 'fan-out',
  source: { kind: 'queue', queue: 'fanout' },
  needs: ['table:read', 'table:write', 'queue:delivery', 'queue:live'],
  timeoutSeconds: 60,
  async handle(work, message) {
    const { detail } = BusMessage.parse(message)
    await fanOutEvent(work, detail.id)
  },
}
