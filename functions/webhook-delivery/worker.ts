import { deliver } from '#shared/domain/webhooks/deliver.ts'
import { DeliveryMessage } from '#shared/events/queues.ts'
import type { QueueWorker } from '#shared/http/worker.ts'

/** Sends webhook deliveries. */
export const worker: QueueWorker = {
  name: 'webhook-delivery',
  source: { kind: 'queue', queue: 'delivery' },
  needs: ['table:read', 'table:write', 'keys:data', 'queue:delivery'],
  // The receiver has 10 seconds; less than the lease of a delivery, so that two never send it at once.
  timeoutSeconds: 25,
  handle: (work, message) => deliver(work, DeliveryMessage.parse(message)),
}
