import { DeliveryMessage, deliver } from '#shared/delivery/webhooks/index.ts'
import type { QueueWorker } from '#shared/http/worker.ts'

/** Sends webhook deliveries. */
export const worker: QueueWorker = {
  name: 'delivery',
  source: { kind: 'queue', queue: 'delivery' },
  needs: ['table:read', 'table:write', 'keys:data', 'outgoing', 'queue:delivery'],
  // The receiver has 10 seconds. The timeout is shorter than a delivery's lease, so that two workers never send it at
  // once.
  timeoutSeconds: 25,
  handle: (work, message) => deliver(work, DeliveryMessage.parse(message)),
}
