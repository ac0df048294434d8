import { type Message, ReceiveMessageCommand, type SQSClient } from '@aws-sdk/client-sqs'
import { iso } from '#shared/kernel/clock.ts'

/** Seconds for which a look hides the messages that it shows from other receivers. */
const HOLD = 5
const AT_ONCE = 10

/** Reads the first messages of a queue without removing them. */
export async function readMessages(sqs: SQSClient, QueueUrl: string, most: number): Promise<Message[]> {
  const seen = new Map<string, Message>()
  while (seen.size < most) {
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({
        QueueUrl,
        MaxNumberOfMessages: Math.min(AT_ONCE, most - seen.size),
        VisibilityTimeout: HOLD,
        MessageSystemAttributeNames: ['All'],
        MessageAttributeNames: ['All'],
      }),
    )
    const fresh = Messages.filter(({ MessageId = '' }) => !seen.has(MessageId))
    if (fresh.length === 0) break
    for (const message of fresh) seen.set(message.MessageId ?? '', message)
  }
  return [...seen.values()]
}

/** Describes a message by type and ids. Bodies contain customers' text, so nothing else is shown. */
export function describeMessage({ MessageId, Attributes, MessageAttributes, Body = '' }: Message): string {
  const sent = Number(Attributes?.SentTimestamp ?? 0)
  const parts = [MessageId, iso(sent), ...subjectOf(Body)]
  const source = Attributes?.DeadLetterQueueSourceArn
  if (source !== undefined) parts.push(`queue=${source.split(':').at(-1)}`)
  for (const name of ['ERROR_CODE', 'TARGET_ARN']) {
    const value = MessageAttributes?.[name]?.StringValue
    if (value !== undefined) parts.push(`${name.toLowerCase()}=${value}`)
  }
  return parts.join('  ')
}

type Json = Record<string, unknown>

const asObject = (value: unknown): Json => (typeof value === 'object' && value !== null ? (value as Json) : {})

function subjectOf(body: string): string[] {
  const message = asObject(parsed(body))
  const { DDBStreamBatchInfo } = message
  if (DDBStreamBatchInfo !== undefined) {
    const { shardId, startSequenceNumber, batchSize } = asObject(DDBStreamBatchInfo)
    return [`shard=${shardId}`, `from=${startSequenceNumber}`, `records=${batchSize}`]
  }
  // The event is what the bus brought, or what the message of a new run carries. Other messages name a kind.
  const event = asObject(message.detail ?? message.event)
  const type = message['detail-type'] ?? event.type ?? message.kind
  const ids = { ...idsOf(message), ...idsOf(event), ...idsOf(asObject(parsed(String(event.data)))) }
  return [...(typeof type === 'string' ? [type] : []), ...Object.entries(ids).map(([name, id]) => `${name}=${id}`)]
}

const parsed = (body: string): unknown => {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

const ID = /^[a-z]{2,12}_[\w-]{1,60}$/

const idsOf = (fields: Json): Json =>
  Object.fromEntries(
    Object.entries(fields).filter(
      ([name, value]) => /(^|_)id$/.test(name) && typeof value === 'string' && ID.test(value),
    ),
  )
