import { AwsError } from '../error.ts'
import { checkAttributes } from './attributes.ts'
import { md5, md5OfAttributes } from './md5.ts'
import type { Queue } from './queue.ts'
import type { MessageAttribute } from './store.ts'

/** Limit of a body, of its attributes and of a whole batch: 1 MiB. */
const MAX_BYTES = 1_048_576
const MAX_DELAY_SECONDS = 900
const MAX_BATCH = 10
const ENTRY_ID = /^[\w-]{1,80}$/
const GROUP_ID = /^[\w!"#$%&'()*+,\-./:;<=>?@[\\\]^`{|}~]{1,128}$/
// biome-ignore lint/suspicious/noControlCharactersInRegex: SQS rejects exactly these characters.
const FORBIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/

/** One message of SendMessage or of a batch entry. */
export interface SendInput {
  MessageBody?: string
  DelaySeconds?: number
  MessageAttributes?: Record<string, MessageAttribute>
  MessageGroupId?: string
  MessageDeduplicationId?: string
  MessageSystemAttributes?: object
}

const isText = (text: string): boolean => text.isWellFormed() && !FORBIDDEN.test(text)

/** Error for a request without a required parameter. */
export const missing = (parameter: string) =>
  new AwsError('MissingParameter', `The request must contain the parameter ${parameter}.`)

/**
 * Refuses a parameter of FIFO queues, which the template doesn't have.
 * @throws AwsError when it is given
 */
export const refuseFifo = (parameter: string, value: unknown) => {
  if (value === undefined) return
  const message = `The request include parameter ${parameter} that is not valid for this queue type`
  throw new AwsError('InvalidParameterValue', message)
}

const invalid = (parameter: string, value: unknown, reason: string) =>
  new AwsError('InvalidParameterValue', `Value ${value} for parameter ${parameter} is invalid. Reason: ${reason}`)

const bytesOf = ({ MessageBody = '', MessageAttributes = {} }: SendInput): number =>
  Object.entries(MessageAttributes).reduce(
    (sum, [name, { DataType = '', StringValue = '', BinaryValue = '' }]) =>
      sum + Buffer.byteLength(name + DataType + StringValue) + Buffer.byteLength(BinaryValue, 'base64'),
    Buffer.byteLength(MessageBody),
  )

const check = (input: SendInput) => {
  const { MessageBody, DelaySeconds, MessageGroupId } = input
  if (!MessageBody) throw missing('MessageBody')
  if (!isText(MessageBody)) throw new AwsError('InvalidMessageContents', 'Invalid characters found in the message.')
  refuseFifo('MessageDeduplicationId', input.MessageDeduplicationId)
  if (Object.keys(input.MessageSystemAttributes ?? {}).length > 0)
    throw new AwsError('UnsupportedOperation', 'The local SQS does not support MessageSystemAttributes.')
  checkAttributes(input.MessageAttributes ?? {}, isText)
  if (bytesOf(input) > MAX_BYTES) {
    const reason = `Message must be shorter than ${MAX_BYTES} bytes.`
    throw new AwsError('InvalidParameterValue', `One or more parameters are invalid. Reason: ${reason}`)
  }
  if (
    DelaySeconds !== undefined &&
    !(Number.isInteger(DelaySeconds) && DelaySeconds >= 0 && DelaySeconds <= MAX_DELAY_SECONDS)
  ) {
    throw invalid('DelaySeconds', DelaySeconds, `DelaySeconds must be >= 0 and <= ${MAX_DELAY_SECONDS}.`)
  }
  if (MessageGroupId !== undefined && !GROUP_ID.test(MessageGroupId)) {
    throw invalid(
      'MessageGroupId',
      MessageGroupId,
      'MessageGroupId can only include alphanumeric and punctuation characters. 1 to 128 in length.',
    )
  }
}

/**
 * Sends one message (SendMessage).
 *
 * @throws AwsError with SQS's error: no body, too long, a delay over 900 seconds, …
 */
export const send = (queue: Queue, input: SendInput) => {
  check(input)
  const message = queue.send({
    body: input.MessageBody ?? '',
    attributes: input.MessageAttributes ?? {},
    groupId: input.MessageGroupId,
    delaySeconds: input.DelaySeconds,
  })
  const attributes = md5OfAttributes(message.attributes)
  return {
    MessageId: message.id,
    MD5OfMessageBody: md5(message.body),
    ...(attributes && { MD5OfMessageAttributes: attributes }),
  }
}

/**
 * Runs a batch operation. An error of the batch fails all entries; an error of an entry fails only that entry.
 *
 * @throws AwsError for an empty or too long batch and for wrong or repeated ids
 */
export const batch = <Entry extends { Id?: string }, Result extends object>(
  entries: Entry[] | undefined,
  each: (entry: Entry) => Result,
) => {
  if (!entries?.length)
    throw new AwsError('AWS.SimpleQueueService.EmptyBatchRequest', 'There should be at least one entry in the request.')
  if (entries.length > MAX_BATCH) {
    const message = `Maximum number of entries per request are ${MAX_BATCH}. You have sent ${entries.length}.`
    throw new AwsError('AWS.SimpleQueueService.TooManyEntriesInBatchRequest', message)
  }
  for (const { Id } of entries) {
    if (Id === undefined) throw missing('Id')
    if (!ENTRY_ID.test(Id)) {
      const form = 'A batch entry id can only contain alphanumeric characters, hyphens and underscores.'
      throw new AwsError('AWS.SimpleQueueService.InvalidBatchEntryId', `${form} It can be at most 80 letters long.`)
    }
  }
  const ids = new Set(entries.map((entry) => entry.Id))
  if (ids.size < entries.length)
    throw new AwsError('AWS.SimpleQueueService.BatchEntryIdsNotDistinct', 'Two or more batch entries have the same Id.')
  const Successful: (Result & { Id: string | undefined })[] = []
  const Failed: { Id: string | undefined; Code: string; Message: string; SenderFault: boolean }[] = []
  for (const entry of entries) {
    try {
      Successful.push({ Id: entry.Id, ...each(entry) })
    } catch (error) {
      if (!(error instanceof AwsError)) throw error
      Failed.push({ Id: entry.Id, Code: error.code.replace(/^.*#/, ''), Message: error.message, SenderFault: true })
    }
  }
  return { Successful, Failed }
}

/**
 * Checks the total size of a batch.
 * @throws AwsError when the entries together exceed the limit of one request
 */
export const checkBatchSize = (entries: SendInput[] | undefined) => {
  const total = (entries ?? []).reduce((sum, entry) => sum + bytesOf(entry), 0)
  if (total > MAX_BYTES) {
    const message = `Batch requests cannot be longer than ${MAX_BYTES} bytes. You have sent ${total} bytes.`
    throw new AwsError('AWS.SimpleQueueService.BatchRequestTooLong', message)
  }
}
