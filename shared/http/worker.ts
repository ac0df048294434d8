import type { Context, DynamoDBStreamEvent, SQSBatchResponse, SQSEvent } from 'aws-lambda'
import { createBus } from '../adapters/bus.ts'
import { createOutgoingHttp } from '../adapters/outgoing-http/client.ts'
import { createQueues } from '../adapters/queues.ts'
import type { Deps, WorkerWork } from '../domain/deps.ts'
import type { Capability } from '../kernel/capabilities.ts'
import { newId } from '../kernel/ids.ts'
import type { QueueName } from '../kernel/queue-names.ts'
import { type CreateBot, type CreateModel, composeOnce } from './compose.ts'

interface Common {
  name: string
  needs: readonly Capability[]
  timeoutSeconds: number
  memoryMb?: number
}

/** A worker woken by a queue's messages. It throws for a message that is to come again. */
export interface QueueWorker extends Common {
  source: { kind: 'queue'; queue: QueueName }
  handle(work: WorkerWork, message: unknown): Promise<void>
}

/** A worker that gets the stream's new items in order. @returns sequence numbers of those that are to come again */
export interface StreamWorker extends Common {
  source: { kind: 'stream' }
  handle(work: WorkerWork, records: DynamoDBStreamEvent['Records']): Promise<string[]>
}

export interface ScheduledWorker extends Common {
  source: { kind: 'schedule'; everyMinutes: number }
  handle(work: WorkerWork): Promise<void>
}

export type Worker = QueueWorker | StreamWorker | ScheduledWorker

type WorkerDeps = Deps & Pick<WorkerWork, 'queues' | 'bus'>

let composed: WorkerDeps | undefined

/** The dependencies of this worker's instance, made at its first invocation. */
export const composeWorker = (createModel?: CreateModel, createBot?: CreateBot): WorkerDeps => {
  if (!composed) {
    const deps = composeOnce(createOutgoingHttp, createBot, createModel)
    composed = { ...deps, queues: createQueues(deps.settings.queueUrls), bus: createBus(deps.settings.busName) }
  }
  return composed
}

/** A worker's unit of work: the same as a request's, without an answer to keep. */
export const workerWork = (deps: WorkerDeps): WorkerWork => ({
  ...deps,
  requestId: newId('request', deps.clock.now()),
  sourceIp: undefined,
  id: (kind) => newId(kind, deps.clock.now()),
  commit: (writes) => deps.table.transact(writes),
})

/**
 * The Lambda handler of a worker. The messages of a batch are handled at the same time, and each that fails comes again
 * alone (`ReportBatchItemFailures`).
 */
export const runWorker =
  (worker: Worker, deps: () => WorkerDeps = () => composeWorker()) =>
  async (event: unknown, _context?: Context): Promise<SQSBatchResponse | undefined> => {
    const made = deps()
    const { source } = worker
    if (source.kind === 'schedule') {
      await (worker as ScheduledWorker).handle(workerWork(made))
      return undefined
    }
    if (source.kind === 'stream') {
      const failed = await (worker as StreamWorker).handle(workerWork(made), (event as DynamoDBStreamEvent).Records)
      return { batchItemFailures: failed.map((itemIdentifier) => ({ itemIdentifier })) }
    }
    const failures = await Promise.all(
      (event as SQSEvent).Records.map(async ({ messageId, body, attributes }) => {
        try {
          await (worker as QueueWorker).handle(workerWork(made), JSON.parse(body))
          return []
        } catch (error) {
          made.log.error('message failed', {
            worker: worker.name,
            message_id: messageId,
            receives: attributes?.ApproximateReceiveCount,
            error,
          })
          return [{ itemIdentifier: messageId }]
        }
      }),
    )
    return { batchItemFailures: failures.flat() }
  }
