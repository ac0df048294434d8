import { md5 } from '../aws/sqs/md5.ts'
import type { Queue } from '../aws/sqs/queue.ts'
import type { Message } from '../aws/sqs/store.ts'
import { systemAttributes } from '../aws/sqs.ts'
import type { Disk } from '../disk.ts'
import type { Functions } from '../functions.ts'
import { type Jumps, NO_JUMPS } from '../jumps.ts'
import type { QueueSourceModel } from '../template/model.ts'
import { REGION } from '../template/physical.ts'
import { createGate } from './gate.ts'
import { failuresOf, type Source } from './source.ts'

/** Dependencies of a queue source. */
interface QueueSourceDeps {
  functions: Functions
  disk: Pick<Disk, 'writable'>
  /** Makes messages wait until what was in flight at a jump of the clock has had the time to end. */
  jumps?: Pick<Jumps, 'calm'>
  onError: (error: unknown) => void
}

const LONG_POLL_MS = 20_000
const MAX_RECEIVE = 10

/** Builds a message's record of a Lambda event. */
const recordOf = (message: Message, queueArn: string) => ({
  messageId: message.id,
  receiptHandle: message.receipt,
  body: message.body,
  attributes: systemAttributes(message),
  messageAttributes: Object.fromEntries(
    Object.entries(message.attributes).map(([name, { DataType, StringValue, BinaryValue }]) => [
      name,
      {
        stringValue: StringValue,
        binaryValue: BinaryValue,
        stringListValues: [],
        binaryListValues: [],
        dataType: DataType,
      },
    ]),
  ),
  md5OfBody: md5(message.body),
  eventSource: 'aws:sqs',
  eventSourceARN: queueArn,
  awsRegion: REGION,
})

/**
 * Receives from a queue and invokes the function, with as many parallel batches as the mapping allows. Successful
 * messages are deleted. Failed ones become visible again when their visibility timeout ends.
 */
export const startQueueSource = (
  model: QueueSourceModel,
  queue: Queue,
  { functions, disk, jumps = NO_JUMPS, onError }: QueueSourceDeps,
): Source => {
  const gate = createGate()
  const abort = new AbortController()
  let polling = new AbortController()
  const running = new Set<Promise<void>>()

  const receiveBatch = async (): Promise<Message[]> => {
    const size = Math.min(model.batchSize, MAX_RECEIVE)
    const messages = await queue.receive({ max: size, waitMs: LONG_POLL_MS, signal: polling.signal })
    const until = Date.now() + model.windowMs
    while (messages.length > 0 && messages.length < model.batchSize) {
      const left = until - Date.now()
      const max = Math.min(model.batchSize - messages.length, MAX_RECEIVE)
      const more = await queue.receive({ max, waitMs: Math.max(left, 0), signal: polling.signal })
      if (more.length === 0 && left <= 0) break
      messages.push(...more)
      if (polling.signal.aborted) break
    }
    return messages
  }

  const isReady = async () => {
    await jumps.calm()
    await functions.warm(model.functionArn)
  }

  /** Keeps messages invisible while the function loads: starting a thread may take longer than a short visibility timeout. */
  const keepWhile = async (loading: Promise<void>, batch: Message[]) => {
    const { visibilitySeconds } = queue.model
    const extend = () => {
      try {
        for (const { receipt } of batch) queue.changeVisibility(receipt ?? '', visibilitySeconds)
      } catch (error) {
        onError(error)
      }
    }
    const beat = setInterval(extend, visibilitySeconds * 300)
    await loading.finally(() => clearInterval(beat))
    extend()
  }

  const handle = async (batch: Message[]) => {
    await keepWhile(isReady(), batch)
    const event = { Records: batch.map((message) => recordOf(message, model.queueArn)) }
    const result = await functions.invoke(model.functionArn, event)
    const failures = failuresOf(
      result,
      model.reportItemFailures,
      batch.map(({ id }) => id),
    )
    if (failures === 'all') return
    for (const message of batch) if (!failures.has(message.id)) queue.delete(message.receipt ?? '')
  }

  const run = async () => {
    while (!abort.signal.aborted) {
      await gate.passed()
      // A function that can't write fails, and each failure counts toward the dead letters.
      await disk.writable()
      if (running.size >= model.maxConcurrency) {
        await Promise.race(running)
        continue
      }
      const messages = await receiveBatch()
      if (messages.length === 0) continue
      const work: Promise<void> = handle(messages)
        .catch(onError)
        .finally(() => running.delete(work))
      running.add(work)
    }
  }
  const ended = run()

  return {
    functionName: functions.find(model.functionArn)?.name ?? model.functionArn,
    pause: () => {
      gate.pause()
      polling.abort()
    },
    resume: () => {
      polling = new AbortController()
      gate.resume()
    },
    stop: async () => {
      abort.abort()
      polling.abort()
      gate.resume()
      await ended
    },
  }
}
