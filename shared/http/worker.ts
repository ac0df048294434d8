import type { Context, DynamoDBStreamEvent, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda'
import { createBus } from '../adapters/bus.ts'
import { createOutgoingHttp } from '../adapters/outgoing-http/client.ts'
import { createQueues } from '../adapters/queues.ts'
import type { Deps, WorkerWork } from '../domain/deps.ts'
import type { Capability } from '../kernel/capabilities.ts'
import { eachOf } from '../kernel/each-of.ts'
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

/** A worker that takes a batch's messages together. @returns what went wrong, by the message's place: those are to come again */
export interface BatchWorker extends Common {
  source: { kind: 'queue'; queue: QueueName }
  handleBatch(work: WorkerWork, messages: readonly unknown[]): Promise<ReadonlyMap<number, unknown>>
}

/** A worker that gets the stream's new items in order. @returns sequence numbers of those that are to come again */
export interface StreamWorker extends Common {
  source: { kind: 'stream' }
  handle(work: WorkerWork, records: DynamoDBStreamEvent['Records']): Promise<string[]>
}

export interface ScheduledWorker extends Common {
  source: {
    kind: 'schedule'
    everyMinutes: number
    /** After each round of the schedule, which knows nothing shorter than a minute, another one so many seconds later. */
    againAfterSeconds?: number
  }
  handle(work: WorkerWork): Promise<void>
}

export type Worker = QueueWorker | BatchWorker | StreamWorker | ScheduledWorker

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
 * The Lambda handler of a worker. Of a queue's messages only those come again that failed (`ReportBatchItemFailures`).
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
    const records = (event as SQSEvent).Records
    const errors = await errorsOf(worker as QueueWorker | BatchWorker, made, records)
    const failed = records.flatMap((record) => (errors.has(record) ? [record] : []))
    for (const record of failed) {
      made.log.error('message failed', {
        worker: worker.name,
        message_id: record.messageId,
        receives: record.attributes?.ApproximateReceiveCount,
        error: errors.get(record),
      })
    }
    return { batchItemFailures: failed.map(({ messageId }) => ({ itemIdentifier: messageId })) }
  }

/** Lets a worker handle a batch's messages: together, or each by itself and all at the same time. @returns what went wrong */
const errorsOf = async (
  worker: QueueWorker | BatchWorker,
  deps: WorkerDeps,
  records: readonly SQSRecord[],
): Promise<Map<SQSRecord, unknown>> => {
  if ('handle' in worker) {
    return eachOf(records, records.length, async ({ body }) => worker.handle(workerWork(deps), JSON.parse(body)))
  }
  const messages = new Map<SQSRecord, unknown>()
  const errors = await eachOf(records, records.length, async (record) => {
    messages.set(record, JSON.parse(record.body))
  })
  const readable = [...messages.keys()]
  try {
    const failed = await worker.handleBatch(workerWork(deps), [...messages.values()])
    for (const [place, error] of failed) errors.set(readable[place] as SQSRecord, error)
  } catch (error) {
    for (const record of readable) errors.set(record, error)
  }
  return errors
}
