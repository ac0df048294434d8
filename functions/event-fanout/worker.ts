import { fanOut } from '#shared/domain/events/fan-out.ts'
import { BusMessage } from '#shared/events/queues.ts'
import type { QueueWorker } from '#shared/http/worker.ts'

/** Brings events into feeds and to webhook subscriptions. */
export const worker: QueueWorker = {
  name: 'event-fanout',
  source: { kind: 'queue', queue: 'fanout' },
  needs: ['table:read', 'table:write', 'queue:delivery'],
  timeoutSeconds: 60,
  async handle(work, message) {
    const { detail } = BusMessage.parse(message)
    await fanOut(work, detail.id)
  },
}
