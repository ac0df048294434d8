import * as z from 'zod'
import { sweepShard } from '#shared/foundation/overdue/index.ts'
import type { QueueWorker } from '#shared/http/worker.ts'
import { OVERDUE_HANDLERS, worker as sweeper } from './sweeper.ts'

const Message = z.object({ shard: z.int().min(0) })

/** Completes the due work of one shard that has more than a page: after an outage, and when many schedules fall due at once. */
export const worker: QueueWorker = {
  name: 'overdue-shards',
  source: { kind: 'queue', queue: 'overdue' },
  needs: sweeper.needs,
  timeoutSeconds: sweeper.timeoutSeconds,
  // Four of these start 10,000 schedules that fall due at one moment within half a minute (bench/schedules.ts).
  memoryMb: 1_024,
  handle: (work, message) => sweepShard(work, OVERDUE_HANDLERS, Message.parse(message).shard),
}
