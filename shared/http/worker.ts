import type {
  APIGatewayProxyWebsocketEventV2,
  Context,
  DynamoDBStreamEvent,
  SQSBatchResponse,
  SQSEvent,
  SQSRecord,
} from 'aws-lambda'
import { readMessage, transactAndSend } from '#shared/foundation/queues/index.ts'
import type { Deps, WorkerWork } from '#shared/foundation/work/index.ts'
import { createBus } from '../adapters/bus.ts'
import { addLogIds, withLogIds } from '../adapters/logger.ts'
import { createQueues } from '../adapters/queues.ts'
import type { Capability } from '../kernel/capabilities.ts'
import { SECOND } from '../kernel/clock.ts'
import { forEachConcurrently } from '../kernel/for-each-concurrently.ts'
import { idsOf, newId } from '../kernel/ids.ts'
import type { QueueName } from '../kernel/queue-names.ts'
import { startTimeLimit } from '../kernel/time-limit.ts'
import { restoreTrace, type TraceContext, traceSchema } from '../kernel/tracing/context.ts'
import { exportingSpans, type Invocation, inBatch, inScope } from '../kernel/tracing/scope.ts'
import { type Adapters, composeOnce, currentEnvironment } from './compose.ts'
import { type Environment, invocationIds, messageIds } from './log-ids.ts'
import { reportingLong } from './long-invocation.ts'

interface Common {
  name: string
  needs: readonly Capability[]
  timeoutSeconds: number
  memoryMb?: number
}

/** A worker woken by a queue's messages. Throw to have the message redelivered. */
export interface QueueWorker extends Common {
  source: { kind: 'queue'; queue: QueueName }
  handle(work: WorkerWork, message: unknown): Promise<void>
}

/**
 * A worker that handles a batch's messages together.
 * @returns errors by the message's index; those messages are redelivered
 */
export interface BatchWorker extends Common {
  source: { kind: 'queue'; queue: QueueName }
  handleBatch(work: WorkerWork, messages: readonly unknown[]): Promise<ReadonlyMap<number, unknown>>
}

/**
 * A worker that gets the stream's new items in order.
 * @returns sequence numbers of the items to redeliver
 */
export interface StreamWorker extends Common {
  source: {
    kind: 'stream'
    /** Name of the entity whose new items it gets. */
    entity: string
    /** Name of a field whose items it doesn't get. */
    without?: string
    /** Handles one batch of a shard at a time. Otherwise several, in order within a partition. */
    inOrder?: true
    /** Sets aside what keeps failing in a dead-letter queue. False if another worker finds it. */
    setsAside: boolean
  }
  handle(work: WorkerWork, records: DynamoDBStreamEvent['Records']): Promise<string[]>
}

export interface ScheduledWorker extends Common {
  source: {
    kind: 'schedule'
    everyMinutes: number
    /**
     * Delay in seconds before a second run after each scheduled one. A schedule can't run more often than every minute.
     */
    againAfterSeconds?: number
  }
  handle(work: WorkerWork): Promise<void>
}

/** Event of a live connection, as API Gateway sends it. */
export interface SocketEvent {
  type: 'CONNECT' | 'MESSAGE' | 'DISCONNECT'
  connectionId: string
  /** Origin of the page that connects, as its browser names it. */
  origin: string | undefined
  /** Address that connects. The gateway names it, not the caller. */
  sourceIp: string | undefined
  body: string
}

/** A worker invoked by live connections of open pages. */
export interface SocketWorker extends Common {
  source: { kind: 'sockets' }
  /** @returns an HTTP status. One that isn't 2xx refuses a connection. */
  handle(work: WorkerWork, event: SocketEvent): Promise<number>
}

export type Worker = QueueWorker | BatchWorker | StreamWorker | ScheduledWorker | SocketWorker

type WorkerDeps = Deps & Pick<WorkerWork, 'bus'>

let composed: WorkerDeps | undefined

/** Returns the dependencies of this worker's instance, created at its first invocation. */
const composeWorker = (adapters: Adapters): WorkerDeps => {
  if (!composed) {
    const deps = composeOnce({ ...adapters, createQueues })
    composed = { ...deps, bus: createBus(deps.settings.busName) }
  }
  return composed
}

/** Returns a worker's unit of work: the same as a request's, without a response to store. */
export const createWorkerWork = (deps: WorkerDeps): WorkerWork => {
  const requestId = newId('request', deps.clock.now())
  addLogIds({ request_id: requestId })
  return {
    ...deps,
    requestId,
    sourceIp: undefined,
    id: idsOf(requestId, () => deps.clock.now()),
    commit: (writes) => transactAndSend(deps, writes),
  }
}

/** Returns the Lambda handler of a unit of `functions/units.ts`. */
export const work = (workers: readonly Worker[], adapters: Adapters = {}): AnyHandler =>
  runWorkers(workers, () => composeWorker(adapters), currentEnvironment)

/**
 * Routes each event to the worker of its source. A worker with a shorter timeout than the function fails when its own
 * time is over, as if Lambda had ended it.
 */
export const runWorkers = (
  workers: readonly Worker[],
  deps: () => WorkerDeps,
  environment: () => Environment = () => ({}),
): AnyHandler => {
  const longest = Math.max(...workers.map(({ timeoutSeconds }) => timeoutSeconds))
  const handle: AnyHandler = async (event, context) => {
    // Must come first: the check of a new version sends an empty batch, which must reveal a missing setting.
    const made = deps()
    const { Records } = event as Partial<SQSEvent>
    const worker = workers.length === 1 ? workers[0] : workerFor(workers, made, event)
    if (!worker) {
      if (Records?.length === 0) return { batchItemFailures: [] }
      throw new Error(`no worker of this function reads ${Records?.[0]?.eventSourceARN}`)
    }
    const run = exportingSpans<SQSBatchResponse | SocketResult | undefined>(made.traces, (invocation) =>
      isSocketWorker(worker)
        ? runSocketWorker(worker, made, event)
        : runWorker(worker, deps, invocation)(event, context),
    )
    return worker.timeoutSeconds < longest ? within(worker, run) : run
  }
  return (event, context) =>
    withLogIds(invocationIds(context, event, environment()), () =>
      reportingLong(
        context,
        () => deps().log,
        () => handle(event, context),
      ),
    )
}

/**
 * Finds the worker of a batch's queue. An event without records comes from the schedule, and one of a queue that has no worker
 * here from the schedule's second round.
 */
const workerFor = (workers: readonly Worker[], { settings }: WorkerDeps, event: unknown): Worker | undefined => {
  const { Records: records } = event as Partial<SQSEvent>
  const queue = nameIn(records?.[0]?.eventSourceARN)
  const found = workers.find(({ source }) => {
    if (source.kind === 'stream') return records?.[0]?.eventSourceARN?.includes(':dynamodb:') ?? false
    if (source.kind === 'sockets') return isSocketEvent(event)
    if (source.kind === 'schedule') return records === undefined
    return queue !== undefined && nameIn(settings.queueUrls[source.queue]) === queue
  })
  const again = ({ source }: Worker): boolean => source.kind === 'schedule' && source.againAfterSeconds !== undefined
  return found ?? (queue === undefined ? undefined : workers.find(again))
}

/** Returns a queue's name from its URL or ARN. */
const nameIn = (address: string | undefined): string | undefined => address?.split(/[:/]/).at(-1)

type GatewayEvent = Pick<APIGatewayProxyWebsocketEventV2, 'body'> & {
  requestContext: APIGatewayProxyWebsocketEventV2['requestContext'] & { identity?: { sourceIp?: string } }
  headers?: Record<string, string>
}

const isSocketEvent = (event: unknown): boolean =>
  (event as Partial<GatewayEvent>).requestContext?.connectionId !== undefined

const socketEventOf = (event: unknown): SocketEvent => {
  const { requestContext, headers = {}, body = '' } = event as GatewayEvent
  const { connectionId, eventType: type, identity } = requestContext
  // The gateway keeps the case of header names.
  const origin = Object.entries(headers).find(([name]) => name.toLowerCase() === 'origin')?.[1]
  return { type, connectionId, origin, sourceIp: identity?.sourceIp, body }
}

const within = async <T>({ name, timeoutSeconds }: Worker, run: Promise<T>): Promise<T> => {
  const late = Promise.withResolvers<never>()
  const limit = startTimeLimit(timeoutSeconds * SECOND, () =>
    late.reject(new Error(`${name} ran longer than ${timeoutSeconds} s`)),
  )
  try {
    return await Promise.race([run, late.promise])
  } finally {
    limit.clear()
  }
}

type WorkerHandler<Result = SQSBatchResponse | undefined> = (event: unknown, context?: Context) => Promise<Result>

/** Result of a function that may get events of live connections. */
type SocketResult = { statusCode: number; batchItemFailures?: undefined }
type AnyHandler = WorkerHandler<SQSBatchResponse | SocketResult | undefined>

const isSocketWorker = (worker: Worker): worker is SocketWorker => worker.source.kind === 'sockets'

/** Runs the worker of live connections. */
export const runSocketWorker = async (
  worker: SocketWorker,
  deps: WorkerDeps,
  event: unknown,
): Promise<SocketResult> => ({ statusCode: await worker.handle(createWorkerWork(deps), socketEventOf(event)) })

/** Runs one worker of a queue, a stream or a schedule. Only the queue messages that failed are redelivered (`ReportBatchItemFailures`). */
export const runWorker =
  (worker: Worker, deps: () => WorkerDeps, invocation: Invocation = { traces: undefined, spans: [] }): WorkerHandler =>
  async (event) => {
    const made = deps()
    const { source } = worker
    if (source.kind === 'schedule') {
      await inScope({ invocation }, () => (worker as ScheduledWorker).handle(createWorkerWork(made)))
      return undefined
    }
    if (source.kind === 'stream') {
      const failed = await inScope({ invocation }, () =>
        (worker as StreamWorker).handle(createWorkerWork(made), (event as DynamoDBStreamEvent).Records),
      )
      return { batchItemFailures: failed.map((itemIdentifier) => ({ itemIdentifier })) }
    }
    const records = (event as SQSEvent).Records
    const errors = await errorsOf(worker as QueueWorker | BatchWorker, made, records, invocation)
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

/** Returns the trace that a message continues: its own, or that of its event. */
const traceOf = (message: unknown): TraceContext | undefined => {
  const { trace, event } = (message ?? {}) as { trace?: unknown; event?: { trace?: unknown } }
  const { data } = traceSchema().safeParse(trace ?? event?.trace)
  return data && restoreTrace(data)
}

/**
 * Lets a worker handle a batch's messages, together or each in parallel.
 * @returns the errors by record
 */
const errorsOf = async (
  worker: QueueWorker | BatchWorker,
  deps: WorkerDeps,
  records: readonly SQSRecord[],
  invocation: Invocation,
): Promise<Map<SQSRecord, unknown>> => {
  if ('handle' in worker) {
    return forEachConcurrently(records, records.length, async ({ body }) => {
      const message = readMessage(body)
      const trace = traceOf(message)
      const span = { name: worker.name, kind: 'consumer' } as const
      const handle = () => worker.handle(createWorkerWork(deps), message)
      await inScope({ invocation, trace, span }, () => withLogIds(messageIds(message), handle))
    })
  }
  const messages = new Map<SQSRecord, unknown>()
  const errors = await forEachConcurrently(records, records.length, async (record) => {
    messages.set(record, readMessage(record.body))
  })
  const readable = [...messages.keys()]
  try {
    const read = [...messages.values()]
    const failed = await inScope({ invocation }, () =>
      inBatch(worker.name, read.map(traceOf), () => worker.handleBatch(createWorkerWork(deps), read)),
    )
    for (const [place, error] of failed) errors.set(readable[place] as SQSRecord, error)
  } catch (error) {
    for (const record of readable) errors.set(record, error)
  }
  return errors
}
