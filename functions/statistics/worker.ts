import { countEvent } from '#shared/domain/statistics/count.ts'
import { BusMessage } from '#shared/events/queues.ts'
import type { QueueWorker } from '#shared/http/worker.ts'

/** Counts what happened for apps' statistics, and keeps their logs. */
export const worker: QueueWorker = {
  name: 'statistics',
  source: { kind: 'queue', queue: 'statistics' },
  needs: ['table:read', 'table:write'],
  timeoutSeconds: 60,
  handle: (work, message) => countEvent(work, BusMessage.parse(message).detail),
}
