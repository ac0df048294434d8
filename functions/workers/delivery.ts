import * as z from 'zod'
import { PushMessage, sendPushes } from '#shared/agents/a2a/index.ts'
import { DeliveryMessage, deliver } from '#shared/delivery/webhooks/index.ts'
import type { QueueWorker } from '#shared/http/worker.ts'

/** Sends webhook deliveries, and push notifications of A2A tasks. */
export const worker: QueueWorker = {
  name: 'delivery',
  source: { kind: 'queue', queue: 'delivery' },
  needs: ['table:read', 'table:write', 'objects:read', 'keys:data', 'outgoing', 'queue:delivery'],
  // The receiver has 10 seconds. The timeout is shorter than a delivery's lease, so that two workers never send it at
  // once.
  timeoutSeconds: 25,
  // It mostly waits. With five answers of 1 MiB, the process takes 105 MB.
  memoryMb: 384,
  handle(work, message) {
    const given = z.discriminatedUnion('kind', [PushMessage(), DeliveryMessage]).parse(message)
    return given.kind === 'push' ? sendPushes(work, given) : deliver(work, given)
  },
}
