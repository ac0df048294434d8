import type { DatabaseSync } from 'node:sqlite'
import type { Jumps } from '../jumps.ts'
import type { QueueModel } from '../template/model.ts'
import { ACCOUNT } from '../template/physical.ts'
import { AwsError } from './error.ts'
import { md5, md5OfAttributes } from './sqs/md5.ts'
import { createMoves } from './sqs/move.ts'
import { createQueue, type Queue } from './sqs/queue.ts'
import { batch, checkBatchSize, missing, refuseFifo, type SendInput, send } from './sqs/send.ts'
import { createMessageStore, type Message } from './sqs/store.ts'

/** All queues of the template, and the operations on them that the platform uses. */
export interface Sqs {
  /** Answers one operation of the AWS JSON 1.0 protocol. */
  handle(operation: string, input: Record<string, unknown>, signal: AbortSignal): Promise<object>
  byArn(arn: string): Queue | undefined
  byName(name: string): Queue | undefined
  /** Returns a queue's address, as used for QueueUrl. */
  urlOf(name: string): string
  stop(): void
}

/** Dependencies of the emulator. */
export interface SqsOptions {
  queues: QueueModel[]
  database: DatabaseSync
  /** Prefix of queue addresses. */
  address: string
  now?: () => number
  /** Called with the error of a write that nobody waits for. */
  onError: (error: unknown) => void
  jumps: Pick<Jumps, 'look' | 'onJump'>
}

interface Input extends SendInput {
  QueueUrl?: string
  QueueName?: string
  Entries?: (SendInput & { Id?: string; ReceiptHandle?: string; VisibilityTimeout?: number })[]
  MaxNumberOfMessages?: number
  WaitTimeSeconds?: number
  VisibilityTimeout?: number
  ReceiptHandle?: string
  AttributeNames?: string[]
  MessageSystemAttributeNames?: string[]
  MessageAttributeNames?: string[]
  ReceiveRequestAttemptId?: string
  SourceArn?: string
  DestinationArn?: string
  MaxNumberOfMessagesPerSecond?: number
  MaxResults?: number
  TaskHandle?: string
}

const noQueue = () => new AwsError('com.amazonaws.sqs#QueueDoesNotExist', 'The specified queue does not exist.')

const checkedReceipt = (queue: Queue, receipt: string | undefined): string => {
  if (receipt === undefined) throw missing('ReceiptHandle')
  if (queue.issued(receipt)) return receipt
  const message = `The input receipt handle "${receipt}" is not a valid receipt handle.`
  throw new AwsError('ReceiptHandleIsInvalid', message)
}

/** System attributes that a receive may ask for. */
const SYSTEM_ATTRIBUTES = new Set([
  'All',
  'ApproximateReceiveCount',
  'SentTimestamp',
  'SenderId',
  'ApproximateFirstReceiveTimestamp',
  'MessageGroupId',
  'DeadLetterQueueSourceArn',
  // No message has these.
  'AWSTraceHeader',
  'MessageDeduplicationId',
  'SequenceNumber',
])

const checkAsked = (asked: readonly string[], known: ReadonlySet<string>): void => {
  const unknown = asked.find((name) => !known.has(name))
  if (unknown !== undefined) throw new AwsError('InvalidAttributeName', `Unknown Attribute ${unknown}.`)
}

const between = (name: string, value: number | undefined, low: number, high: number, fallback: number): number => {
  if (value === undefined) return fallback
  if (Number.isInteger(value) && value >= low && value <= high) return value
  const reason = `Must be between ${low} and ${high}, if provided.`
  throw new AwsError('InvalidParameterValue', `Value ${value} for parameter ${name} is invalid. Reason: ${reason}`)
}

/** Returns a message's system attributes, as in ReceiveMessage and Lambda events. */
export const systemAttributes = (message: Message): Record<string, string> => ({
  ApproximateReceiveCount: String(message.receives),
  SentTimestamp: String(message.sentAt),
  SenderId: ACCOUNT,
  ApproximateFirstReceiveTimestamp: String(message.firstReceivedAt),
  ...(message.groupId !== undefined && { MessageGroupId: message.groupId }),
  ...(message.deadLetterSource !== undefined && { DeadLetterQueueSourceArn: message.deadLetterSource }),
})

const render = (message: Message, input: Input) => {
  const asked = [...(input.MessageSystemAttributeNames ?? []), ...(input.AttributeNames ?? [])]
  const system = Object.entries(systemAttributes(message)).filter(
    ([name]) => asked.includes('All') || asked.includes(name),
  )
  const own = Object.entries(message.attributes).filter(([name]) =>
    (input.MessageAttributeNames ?? []).some(
      (wanted) =>
        wanted === name || wanted === 'All' || (wanted.endsWith('.*') && name.startsWith(wanted.slice(0, -2))),
    ),
  )
  return {
    MessageId: message.id,
    ReceiptHandle: message.receipt,
    Body: message.body,
    MD5OfBody: md5(message.body),
    ...(system.length > 0 && { Attributes: Object.fromEntries(system) }),
    ...(own.length > 0 && {
      MessageAttributes: Object.fromEntries(own),
      MD5OfMessageAttributes: md5OfAttributes(Object.fromEntries(own)),
    }),
  }
}

/** Starts the queues with the messages that the database holds. */
export const createSqs = ({ queues: models, database, address, now = Date.now, onError, jumps }: SqsOptions): Sqs => {
  const store = createMessageStore(database)
  const byArn = new Map<string, Queue>()
  const queues = new Map<string, Queue>()
  for (const model of models) {
    const queue = createQueue(model, { store, now, byArn: (arn) => byArn.get(arn), onError, jumps })
    byArn.set(model.arn, queue)
    queues.set(model.name, queue)
  }
  const urlOf = (name: string) => `${address}/${ACCOUNT}/${name}`

  const moves = createMoves({ queues: () => queues.values(), byArn: (arn) => byArn.get(arn), now, onError })

  const queueOf = (input: Input): Queue => {
    const queue = queues.get(input.QueueUrl?.split('/').at(-1) ?? '')
    if (!queue) throw noQueue()
    return queue
  }

  const changeVisibility = (queue: Queue, receipt: string | undefined, seconds: number | undefined) => {
    const handle = checkedReceipt(queue, receipt)
    if (seconds === undefined) throw missing('VisibilityTimeout')
    const changed = queue.changeVisibility(handle, between('VisibilityTimeout', seconds, 0, 43_200, 0))
    if (changed === 'deleted') {
      const reason = 'Message does not exist or is not available for visibility timeout change.'
      const message = `Value ${handle} for parameter ReceiptHandle is invalid. Reason: ${reason}`
      throw new AwsError('InvalidParameterValue', message)
    }
    if (changed === 'not in flight')
      throw new AwsError('com.amazonaws.sqs#MessageNotInflight', 'The message referred to is not in flight.')
    return {}
  }

  const remove = (queue: Queue, receipt: string | undefined) => {
    queue.delete(checkedReceipt(queue, receipt))
    return {}
  }

  const attributesOf = (queue: Queue) => {
    const { visible, inFlight, delayed } = queue.counts()
    const { model } = queue
    return {
      QueueArn: model.arn,
      ApproximateNumberOfMessages: String(visible),
      ApproximateNumberOfMessagesNotVisible: String(inFlight),
      ApproximateNumberOfMessagesDelayed: String(delayed),
      VisibilityTimeout: String(model.visibilitySeconds),
      DelaySeconds: String(model.delaySeconds),
      MessageRetentionPeriod: String(model.retentionSeconds),
      ...(model.redrive && {
        RedrivePolicy: JSON.stringify({
          deadLetterTargetArn: model.redrive.targetArn,
          maxReceiveCount: model.redrive.maxReceives,
        }),
      }),
    }
  }

  const receive = async (queue: Queue, input: Input, signal: AbortSignal) => {
    checkAsked([...(input.MessageSystemAttributeNames ?? []), ...(input.AttributeNames ?? [])], SYSTEM_ATTRIBUTES)
    refuseFifo('ReceiveRequestAttemptId', input.ReceiveRequestAttemptId)
    const messages = await queue.receive({
      max: between('MaxNumberOfMessages', input.MaxNumberOfMessages, 1, 10, 1),
      waitMs: between('WaitTimeSeconds', input.WaitTimeSeconds, 0, 20, 0) * 1_000,
      visibilitySeconds: between(
        'VisibilityTimeout',
        input.VisibilityTimeout,
        0,
        43_200,
        queue.model.visibilitySeconds,
      ),
      signal,
    })
    return messages.length > 0 ? { Messages: messages.map((message) => render(message, input)) } : {}
  }

  const operations: Record<string, (input: Input, signal: AbortSignal) => object | Promise<object>> = {
    SendMessage: (input) => send(queueOf(input), input),
    SendMessageBatch: (input) => {
      const queue = queueOf(input)
      checkBatchSize(input.Entries)
      return batch(input.Entries, (entry) => send(queue, entry))
    },
    ReceiveMessage: (input, signal) => receive(queueOf(input), input, signal),
    DeleteMessage: (input) => remove(queueOf(input), input.ReceiptHandle),
    DeleteMessageBatch: (input) => {
      const queue = queueOf(input)
      return batch(input.Entries, (entry) => remove(queue, entry.ReceiptHandle))
    },
    ChangeMessageVisibility: (input) => changeVisibility(queueOf(input), input.ReceiptHandle, input.VisibilityTimeout),
    ChangeMessageVisibilityBatch: (input) => {
      const queue = queueOf(input)
      return batch(input.Entries, (entry) => changeVisibility(queue, entry.ReceiptHandle, entry.VisibilityTimeout))
    },
    GetQueueUrl: (input) => {
      if (!queues.has(input.QueueName ?? '')) throw noQueue()
      return { QueueUrl: urlOf(input.QueueName ?? '') }
    },
    GetQueueAttributes: (input) => {
      const all = Object.entries(attributesOf(queueOf(input)))
      const asked = input.AttributeNames ?? []
      checkAsked(asked, new Set(['All', 'RedrivePolicy', ...all.map(([name]) => name)]))
      return { Attributes: Object.fromEntries(all.filter(([name]) => asked.includes('All') || asked.includes(name))) }
    },
    PurgeQueue: (input) => {
      queueOf(input).purge()
      return {}
    },
    ...moves.operations,
  }

  return {
    byArn: (arn) => byArn.get(arn),
    byName: (name) => queues.get(name),
    urlOf,
    handle: async (operation, input, signal) => {
      const run = operations[operation]
      if (!run) throw new AwsError('UnsupportedOperation', `The local SQS does not support ${operation}.`)
      return run(input, signal)
    },
    stop: () => {
      moves.stop()
      for (const queue of queues.values()) queue.stop()
    },
  }
}
