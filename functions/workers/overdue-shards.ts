import * as z from 'zod'
import { sweepShard } from '#shared/foundation/overdue/index.ts'
import type { QueueWorker } from '#shared/http/worker.ts'
import { OVERDUE_HANDLERS, worker as sweeper } from './sweeper.ts'

const Message = z.object({ shard: z.int().min(0) })

/** Completes the overdue work of one shard, after an outage that left more than one sweep can handle. */
export const worker: QueueWorker = {
  name: 'overdue-shards',
  source: { kind: 'queue', queue: 'overdue' },
  needs: sweeper.needs,
  timeoutSeconds: sweeper.timeoutSeconds,
  handle: (work, message) => sweepShard(work, OVERDUE_HANDLERS, Message.parse(message).shard),
}
