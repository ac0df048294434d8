import { setTimeout as sleep } from 'node:timers/promises'
import {
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  ListMessageMoveTasksCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  type SQSClient,
  StartMessageMoveTaskCommand,
} from '@aws-sdk/client-sqs'
import { OperatorError } from '../command.ts'
import type { DeadLetters, StageQueues } from './queues.ts'

/** Result of redriving one queue. */
export type Redriven = { moved: number; note?: string }

export type RedriveOptions = {
  queues: StageQueues
  /** Maximum messages per second. Default: SQS decides. */
  rate?: number | undefined
  /** Interval at which the progress of a task is polled. */
  everyMs?: number
}

/** Reads the number of messages waiting in a queue. */
export async function depthOf(sqs: SQSClient, QueueUrl: string): Promise<number> {
  const input = { QueueUrl, AttributeNames: ['ApproximateNumberOfMessages' as const] }
  const { Attributes } = await sqs.send(new GetQueueAttributesCommand(input))
  return Number(Attributes?.ApproximateNumberOfMessages ?? 0)
}

/**
 * Redrives dead letters, each kind in its own way. Workers read the record first, so a message that arrives twice has no further
 * effect.
 *
 * @throws {OperatorError} if SQS aborts the move
 */
export function redrive(sqs: SQSClient, from: DeadLetters, options: RedriveOptions): Promise<Redriven> {
  if (from.from === 'queue') return moveBack(sqs, from, options)
  return from.from === 'bus' ? putIntoTargets(sqs, from, options) : forget(sqs, from)
}

const arnOf = async (sqs: SQSClient, QueueUrl: string): Promise<string> => {
  const { Attributes } = await sqs.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['QueueArn'] }))
  return Attributes?.QueueArn ?? ''
}

/** Has SQS move messages back to their source queue. */
async function moveBack(sqs: SQSClient, { name, url }: DeadLetters, options: RedriveOptions): Promise<Redriven> {
  const SourceArn = await arnOf(sqs, url)
  const { rate, everyMs = 1_000 } = options
  await sqs.send(
    new StartMessageMoveTaskCommand({
      SourceArn,
      ...(rate !== undefined && { MaxNumberOfMessagesPerSecond: rate }),
    }),
  )
  for (;;) {
    const { Results = [] } = await sqs.send(new ListMessageMoveTasksCommand({ SourceArn, MaxResults: 1 }))
    const { Status, ApproximateNumberOfMessagesMoved: moved = 0, FailureReason } = Results[0] ?? {}
    if (Status === 'COMPLETED') return { moved: Number(moved) }
    if (Status !== 'RUNNING') {
      throw new OperatorError(
        `${name}: SQS ended the move (${Status}): ${FailureReason ?? 'no reason given'}. ${moved} are moved.`,
      )
    }
    await sleep(everyMs)
  }
}

/** Sends events to their target queues, which EventBridge names in each message. SQS can move only its own dead letters. */
async function putIntoTargets(sqs: SQSClient, from: DeadLetters, { queues, rate }: RedriveOptions): Promise<Redriven> {
  const urls = new Map(
    await Promise.all([...queues.working.values()].map(async (url) => [await arnOf(sqs, url), url] as const)),
  )
  let moved = 0
  const lost = new Set<string>()
  for await (const { Body, Attributes, MessageAttributes, ReceiptHandle } of taken(sqs, from.url)) {
    const target = MessageAttributes?.TARGET_ARN?.StringValue ?? ''
    const QueueUrl = urls.get(target)
    if (QueueUrl === undefined) {
      lost.add(target)
      continue
    }
    await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: Body, MessageGroupId: Attributes?.MessageGroupId }))
    await sqs.send(new DeleteMessageCommand({ QueueUrl: from.url, ReceiptHandle }))
    moved += 1
    if (rate !== undefined) await sleep(1_000 / rate)
  }
  return {
    moved,
    ...(lost.size > 0 && { note: `Left because their queue isn’t part of this stage: ${[...lost].join(', ')}` }),
  }
}

/** Removes references to events that the relay gave up. The events are in the table's outbox, where the sweeper finds them. */
async function forget(sqs: SQSClient, { url }: DeadLetters): Promise<Redriven> {
  let moved = 0
  for await (const { ReceiptHandle } of taken(sqs, url)) {
    await sqs.send(new DeleteMessageCommand({ QueueUrl: url, ReceiptHandle }))
    moved += 1
  }
  return { moved, note: 'These were references. Their events are in the table, and the sweeper publishes them.' }
}

/** Seconds in which a message is handled. A message that isn't removed then becomes visible again. */
const HOLD = 60

async function* taken(sqs: SQSClient, QueueUrl: string) {
  for (;;) {
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({
        QueueUrl,
        MaxNumberOfMessages: 10,
        VisibilityTimeout: HOLD,
        // An empty short poll doesn't mean an empty queue.
        WaitTimeSeconds: 1,
        MessageAttributeNames: ['All'],
        MessageSystemAttributeNames: ['MessageGroupId'],
      }),
    )
    if (Messages.length === 0) return
    yield* Messages
  }
}
