import {
  ChangeMessageVisibilityCommand,
  DeleteMessageBatchCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  ListMessageMoveTasksCommand,
  PurgeQueueCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  StartMessageMoveTaskCommand,
} from '@aws-sdk/client-sqs'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { queueModel, startServices } from '#testkit/services.ts'
import { temporaryFolder, until } from './support.ts'

const dead = queueModel('dead')
const work = queueModel('work', { redrive: { targetArn: dead.arn, maxReceives: 2 } })
const otherQueue = queueModel('other', { redrive: { targetArn: dead.arn, maxReceives: 2 } })

let time = Date.UTC(2026, 10, 21)
let place: ReturnType<typeof temporaryFolder>
let services: Awaited<ReturnType<typeof startServices>>

const open = async () => {
  services = await startServices({ dataDir: place.folder, queues: [dead, work, otherQueue], now: () => time })
}
const QueueUrl = () => services.urlOf('work')
const send = (MessageBody: string, extra: object = {}) =>
  services.sqs.send(new SendMessageCommand({ QueueUrl: QueueUrl(), MessageBody, ...extra }))
const receive = async (extra: object = {}) => {
  const input = {
    QueueUrl: QueueUrl(),
    MaxNumberOfMessages: 10,
    MessageSystemAttributeNames: ['All' as const],
    ...extra,
  }
  return (await services.sqs.send(new ReceiveMessageCommand(input))).Messages ?? []
}
const bodies = async (extra: object = {}) => (await receive(extra)).map(({ Body }) => Body)
const pass = (seconds: number) => {
  time += seconds * 1_000
}

beforeEach(async () => {
  place = temporaryFolder()
  await open()
})
afterEach(async () => {
  await services.stop()
  place.remove()
})

test('a message arrives with its attributes, and the SDK accepts its digests', async () => {
  const attributes = {
    kind: { DataType: 'String', StringValue: 'ü' },
    raw: { DataType: 'Binary', BinaryValue: Buffer.from([0, 255]) },
  }
  const { MessageId } = await send('héllo', { MessageAttributes: attributes, MessageGroupId: 'tenant' })
  const [message] = await receive({ MessageAttributeNames: ['All'] })
  expect(message).toMatchObject({
    MessageId,
    Body: 'héllo',
    Attributes: { ApproximateReceiveCount: '1', MessageGroupId: 'tenant', SentTimestamp: String(time) },
    MessageAttributes: { kind: { StringValue: 'ü' } },
  })
  expect(message?.MessageAttributes?.raw?.BinaryValue).toEqual(new Uint8Array([0, 255]))
})

describe('delays', () => {
  test('hold a message back for exactly the given time', async () => {
    await send('later', { DelaySeconds: 900 })
    pass(899)
    expect(await bodies()).toEqual([])
    pass(1)
    expect(await bodies()).toEqual(['later'])
  })

  test.each([901, -1, 1.5])('of %d seconds are refused as AWS refuses them', async (DelaySeconds) => {
    await expect(send('x', { DelaySeconds })).rejects.toMatchObject({
      name: 'InvalidParameterValue',
      message: expect.stringContaining('DelaySeconds must be >= 0 and <= 900'),
    })
  })

  test('that are too long fail only their entry of a batch', async () => {
    const Entries = [
      { Id: 'good', MessageBody: 'good' },
      { Id: 'bad', MessageBody: 'bad', DelaySeconds: 901 },
    ]
    const answer = await services.sqs.send(new SendMessageBatchCommand({ QueueUrl: QueueUrl(), Entries }))
    expect(answer.Successful?.map(({ Id }) => Id)).toEqual(['good'])
    expect(answer.Failed).toMatchObject([{ Id: 'bad', Code: 'InvalidParameterValue', SenderFault: true }])
    expect(await bodies()).toEqual(['good'])
  })
})

describe('visibility', () => {
  test('hides a received message until its timeout, then counts the receive', async () => {
    await send('m')
    const [first] = await receive()
    pass(29)
    expect(await receive()).toEqual([])
    pass(1)
    const [second] = await receive()
    expect(second?.Attributes?.ApproximateReceiveCount).toBe('2')
    expect(second?.ReceiptHandle).not.toBe(first?.ReceiptHandle)
  })

  test('can be extended and ended', async () => {
    await send('m')
    const [{ ReceiptHandle } = {}] = await receive()
    const change = (VisibilityTimeout: number) =>
      services.sqs.send(new ChangeMessageVisibilityCommand({ QueueUrl: QueueUrl(), ReceiptHandle, VisibilityTimeout }))
    await change(100)
    pass(60)
    expect(await receive()).toEqual([])
    await change(0)
    expect(await bodies()).toEqual(['m'])
    await expect(change(5)).rejects.toMatchObject({ name: 'MessageNotInflight' })
  })

  test('a handle of an earlier receive deletes nothing', async () => {
    await send('m')
    const [old] = await receive()
    pass(30)
    const [latest] = await receive()
    const remove = (ReceiptHandle: string | undefined) =>
      services.sqs.send(new DeleteMessageCommand({ QueueUrl: QueueUrl(), ReceiptHandle }))
    await remove(old?.ReceiptHandle)
    const counts = () =>
      services.sqs.send(new GetQueueAttributesCommand({ QueueUrl: QueueUrl(), AttributeNames: ['All'] }))
    expect((await counts()).Attributes?.ApproximateNumberOfMessagesNotVisible).toBe('1')
    await remove(latest?.ReceiptHandle)
    expect((await counts()).Attributes?.ApproximateNumberOfMessagesNotVisible).toBe('0')
  })
})

test('a message that was received too often is dead-lettered under its own id', async () => {
  const { MessageId } = await send('poison')
  for (let round = 0; round < 2; round += 1) {
    expect(await bodies()).toEqual(['poison'])
    pass(30)
  }
  expect(await bodies()).toEqual([])
  const [buried] = await receive({ QueueUrl: services.urlOf('dead') })
  expect(buried).toMatchObject({ MessageId, Body: 'poison', Attributes: { ApproximateReceiveCount: '1' } })
})

test('a tenant with a backlog doesn’t delay the others', async () => {
  for (let i = 0; i < 40; i += 1) await send(`noisy ${i}`, { MessageGroupId: 'noisy' })
  await send('quiet', { MessageGroupId: 'quiet' })
  await send('other', { MessageGroupId: 'other' })
  const [first, second, third] = await bodies({ MaxNumberOfMessages: 3 })
  expect(new Set([first, second, third])).toEqual(new Set(['noisy 0', 'quiet', 'other']))
  await send('quiet again', { MessageGroupId: 'quiet' })
  // By then, two messages of the noisy tenant are in flight, and one of the quiet one.
  expect(await bodies({ MaxNumberOfMessages: 2 })).toContain('quiet again')
})

describe('long poll', () => {
  test('ends as soon as a message arrives', async () => {
    const started = performance.now()
    const waiting = bodies({ WaitTimeSeconds: 20 })
    await new Promise((resolve) => setTimeout(resolve, 50))
    await send('now')
    expect(await waiting).toEqual(['now'])
    expect(performance.now() - started).toBeLessThan(15_000)
  })

  test('takes no message after its client disconnects', async () => {
    const disconnect = new AbortController()
    const input = { QueueUrl: QueueUrl(), WaitTimeSeconds: 20 }
    const waiting = services.sqs.send(new ReceiveMessageCommand(input), { abortSignal: disconnect.signal })
    const ended = expect(waiting).rejects.toThrow()
    await new Promise((resolve) => setTimeout(resolve, 50))
    disconnect.abort()
    await ended
    await new Promise((resolve) => setTimeout(resolve, 50))
    await send('kept')
    expect(await bodies()).toEqual(['kept'])
  })
})

test('a restart finds every message in its state: ready, delayed or in flight, with its receives', async () => {
  await send('in flight')
  await receive()
  await send('ready')
  await send('delayed', { DelaySeconds: 60 })
  await services.stop()
  await open()
  expect(await bodies()).toEqual(['ready'])
  pass(30)
  const again = await receive()
  const counts = again.map(({ Body, Attributes }) => [Body, Attributes?.ApproximateReceiveCount])
  expect(Object.fromEntries(counts)).toEqual({ 'in flight': '2', ready: '2' })
  pass(30)
  expect(await bodies()).toContain('delayed')
})

describe('batches', () => {
  const batch = (Entries: { Id: string; MessageBody: string }[]) =>
    services.sqs.send(new SendMessageBatchCommand({ QueueUrl: QueueUrl(), Entries }))

  test.each([
    ['no entries', [], 'EmptyBatchRequest'],
    [
      'eleven',
      Array.from({ length: 11 }, (_, i) => ({ Id: `${i}`, MessageBody: 'x' })),
      'TooManyEntriesInBatchRequest',
    ],
    ['repeated ids', [1, 2].map(() => ({ Id: 'a', MessageBody: 'x' })), 'BatchEntryIdsNotDistinct'],
    ['an id with a dot', [{ Id: 'a.b', MessageBody: 'x' }], 'InvalidBatchEntryId'],
    ['an id of 81 characters', [{ Id: 'a'.repeat(81), MessageBody: 'x' }], 'InvalidBatchEntryId'],
    ['an empty id', [{ Id: '', MessageBody: 'x' }], 'InvalidBatchEntryId'],
    ['over 1 MiB', [1, 2].map((i) => ({ Id: `${i}`, MessageBody: 'x'.repeat(600_000) })), 'BatchRequestTooLong'],
  ])('of %s are refused as a whole', async (_, entries, name) => {
    await expect(batch(entries)).rejects.toMatchObject({ name })
  })

  test('delete the named messages', async () => {
    await batch(['a', 'b'].map((Id) => ({ Id, MessageBody: Id })))
    const Entries = (await receive()).map(({ ReceiptHandle }, i) => ({ Id: String(i), ReceiptHandle }))
    const answer = await services.sqs.send(new DeleteMessageBatchCommand({ QueueUrl: QueueUrl(), Entries }))
    expect(answer.Successful).toHaveLength(2)
    pass(60)
    expect(await receive()).toEqual([])
  })
})

describe('message attributes are refused as by SQS:', () => {
  const text = (StringValue: string, DataType = 'String') => ({ DataType, StringValue })
  const eleven = Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`a${i}`, text('x')]))

  test.each<[string, Record<string, { DataType: string }>, RegExp]>([
    ['eleven', eleven, /\[11\] exceeds/],
    ['a name with a space', { 'a b': text('x') }, /'a b' is invalid/],
    ['a name that begins with a period', { '.a': text('x') }, /'.a' is invalid/],
    ['a name with successive periods', { 'a..b': text('x') }, /'a..b' is invalid/],
    ['a name of AWS', { 'aws.a': text('x') }, /'aws.a' is invalid/],
    ['a name of 257 characters', { ['a'.repeat(257)]: text('x') }, /is invalid/],
    ['no type', { a: text('x', '') }, /non-empty message attribute type/],
    ['an unknown type', { a: text('x', 'Text') }, /invalid message attribute type/],
    ['an empty label', { a: text('x', 'String.') }, /invalid message attribute type/],
    ['an empty value', { a: text('') }, /non-empty message attribute value/],
    ['no value', { a: { DataType: 'String' } }, /non-empty message attribute value/],
    ['text as Binary', { a: text('x', 'Binary') }, /must use field 'Binary'/],
    ['bytes as String', { a: { DataType: 'String', BinaryValue: Buffer.from('x') } as never }, /use field 'String'/],
    ['text as Number', { a: text('x', 'Number') }, /must use a number/],
    ['a number of 39 digits', { a: text('1'.repeat(39), 'Number') }, /must use a number/],
    ['a number that is too large', { a: text('1e127', 'Number') }, /must use a number/],
    ['a control character', { a: text('\u0001') }, /can’t contain/],
    ['a list', { a: { ...text('x'), StringListValues: ['x'] } as never }, /list/],
  ])('%s', async (_name, MessageAttributes, message) => {
    await expect(send('x', { MessageAttributes })).rejects.toMatchObject({
      name: 'InvalidParameterValue',
      message: expect.stringMatching(message),
    })
    expect(await receive()).toEqual([])
  })

  test('a label, a number in every form, and a name of 256 characters are taken', async () => {
    const MessageAttributes = {
      ['a'.repeat(256)]: text('x', 'String.label'),
      'a.b-c_d': text('-1.5e-3', 'Number.float'),
    }
    await send('x', { MessageAttributes })
    const [message] = await receive({ MessageAttributeNames: ['a.b.*'] })
    expect(message?.MessageAttributes).toEqual({ 'a.b-c_d': MessageAttributes['a.b-c_d'] })
  })
})

test.each([
  ['a lone surrogate', { MessageBody: '\ud800' }, 'InvalidMessageContents'],
  ['U+FFFF', { MessageBody: '\uffff' }, 'InvalidMessageContents'],
  ['an empty body', { MessageBody: '' }, 'MissingParameter'],
  ['a deduplication id', { MessageDeduplicationId: 'a' }, 'InvalidParameterValue'],
  [
    'a system attribute',
    { MessageSystemAttributes: { AWSTraceHeader: { DataType: 'String', StringValue: 'Root=1' } } },
    'UnsupportedOperation',
  ],
  ['a group with a space', { MessageGroupId: 'a b' }, 'InvalidParameterValue'],
])('a message with %s is refused', async (_name, extra, name) => {
  await expect(send('x', extra)).rejects.toMatchObject({ name })
})

test('attributes that don’t exist can’t be asked for', async () => {
  const AttributeNames = ['Size' as never]
  const asked = services.sqs.send(new GetQueueAttributesCommand({ QueueUrl: QueueUrl(), AttributeNames }))
  await expect(asked).rejects.toMatchObject({ name: 'InvalidAttributeName' })
  await expect(receive({ MessageSystemAttributeNames: ['Size'] })).rejects.toMatchObject({
    name: 'InvalidAttributeName',
  })
  await expect(receive({ ReceiveRequestAttemptId: 'a' })).rejects.toMatchObject({ name: 'InvalidParameterValue' })
})

describe('a receipt handle', () => {
  const remove = (ReceiptHandle: string | undefined, queue = 'work') =>
    services.sqs.send(new DeleteMessageCommand({ QueueUrl: services.urlOf(queue), ReceiptHandle }))
  const change = (ReceiptHandle: string | undefined, VisibilityTimeout: number | undefined = 5, queue = 'work') =>
    services.sqs.send(
      new ChangeMessageVisibilityCommand({ QueueUrl: services.urlOf(queue), ReceiptHandle, VisibilityTimeout }),
    )

  test('that no receive gave is refused, alone in a batch', async () => {
    for (const call of [remove, change]) {
      await expect(call('nothing')).rejects.toMatchObject({ name: 'ReceiptHandleIsInvalid' })
      await expect(call('')).rejects.toMatchObject({ name: 'ReceiptHandleIsInvalid' })
      await expect(call(undefined)).rejects.toMatchObject({ name: 'MissingParameter' })
    }
    await send('m')
    const [message] = await receive()
    const Entries = [
      { Id: 'good', ReceiptHandle: message?.ReceiptHandle },
      { Id: 'bad', ReceiptHandle: 'nothing' },
    ]
    const answer = await services.sqs.send(new DeleteMessageBatchCommand({ QueueUrl: QueueUrl(), Entries }))
    expect(answer.Successful).toEqual([{ Id: 'good' }])
    expect(answer.Failed).toMatchObject([{ Id: 'bad', Code: 'ReceiptHandleIsInvalid' }])
  })

  test('of another queue is refused', async () => {
    await send('m')
    const [message] = await receive()
    for (const call of [remove(message?.ReceiptHandle, 'other'), change(message?.ReceiptHandle, 5, 'other')])
      await expect(call).rejects.toMatchObject({ name: 'ReceiptHandleIsInvalid' })
  })

  test('of a deleted message can be deleted again, but has no visibility', async () => {
    await send('m')
    const [message] = await receive()
    await remove(message?.ReceiptHandle)
    await remove(message?.ReceiptHandle)
    await expect(change(message?.ReceiptHandle)).rejects.toMatchObject({
      name: 'InvalidParameterValue',
      message: expect.stringContaining('Message does not exist'),
    })
  })

  test('needs the new timeout', async () => {
    await send('m')
    const [message] = await receive()
    const input = { QueueUrl: QueueUrl(), ReceiptHandle: message?.ReceiptHandle, VisibilityTimeout: undefined }
    await expect(services.sqs.send(new ChangeMessageVisibilityCommand(input))).rejects.toMatchObject({
      name: 'MissingParameter',
    })
  })
})

test('queues are found by name; a missing one causes its own error', async () => {
  const found = await services.sqs.send(new GetQueueUrlCommand({ QueueName: 'work' }))
  expect(found.QueueUrl).toBe(QueueUrl())
  await expect(services.sqs.send(new GetQueueUrlCommand({ QueueName: 'nobody' }))).rejects.toMatchObject({
    name: 'QueueDoesNotExist',
  })
})

test('a purge deletes every message', async () => {
  await send('a')
  await send('b', { DelaySeconds: 5 })
  await services.sqs.send(new PurgeQueueCommand({ QueueUrl: QueueUrl() }))
  pass(10)
  expect(await receive()).toEqual([])
})

describe('a redrive of dead letters', () => {
  const start = (input: object = {}) =>
    services.sqs.send(new StartMessageMoveTaskCommand({ SourceArn: dead.arn, ...input }))
  const tasks = async () =>
    (await services.sqs.send(new ListMessageMoveTasksCommand({ SourceArn: dead.arn, MaxResults: 10 }))).Results ?? []
  const ended = () => until(async () => ((await tasks())[0]?.Status === 'COMPLETED' ? true : undefined))

  test('returns them to their source queue as new messages of the same group', async () => {
    await send('a', { MessageGroupId: 'tenant' })
    const [first] = await receive()
    for (let i = 0; i < 2; i++) {
      pass(60)
      await receive()
    }
    expect((await start()).TaskHandle).toBeTruthy()
    await ended()
    expect(await tasks()).toMatchObject([
      { Status: 'COMPLETED', SourceArn: dead.arn, ApproximateNumberOfMessagesMoved: 1 },
    ])
    const [again] = await receive()
    expect(again).toMatchObject({ Body: 'a', Attributes: { MessageGroupId: 'tenant', ApproximateReceiveCount: '1' } })
    expect(again?.MessageId).not.toBe(first?.MessageId)
  })

  test('returns each to the queue that gave it up, which it names, and ends at one that no queue gave up', async () => {
    const DeadQueueUrl = services.urlOf('dead')
    const other = { QueueUrl: services.urlOf('other') }
    await send('of work')
    await services.sqs.send(new SendMessageCommand({ ...other, MessageBody: 'of other' }))
    for (let i = 0; i < 3; i++) {
      await receive()
      await services.sqs.send(new ReceiveMessageCommand(other))
      pass(60)
    }
    const shown = await services.sqs.send(
      new ReceiveMessageCommand({
        QueueUrl: DeadQueueUrl,
        MaxNumberOfMessages: 10,
        VisibilityTimeout: 0,
        MessageSystemAttributeNames: ['DeadLetterQueueSourceArn'],
      }),
    )
    const sources = shown.Messages?.map(({ Body, Attributes }) => [Body, Attributes?.DeadLetterQueueSourceArn])
    expect(Object.fromEntries(sources ?? [])).toEqual({ 'of work': work.arn, 'of other': otherQueue.arn })
    await services.stop()
    await open()
    await start()
    await ended()
    expect(await bodies()).toEqual(['of work'])
    const { Messages = [] } = await services.sqs.send(new ReceiveMessageCommand(other))
    expect(Messages.map(({ Body }) => Body)).toEqual(['of other'])
    await services.sqs.send(new SendMessageCommand({ QueueUrl: services.urlOf('dead'), MessageBody: 'of nobody' }))
    await start()
    await until(async () => ((await tasks())[0]?.Status === 'FAILED' ? true : undefined))
    expect(await tasks()).toMatchObject([{ FailureReason: 'CouldNotDetermineMessageSource' }, {}])
  })

  test('is refused for a queue without dead letters of others, an unknown queue, a rate of zero, and next to another redrive', async () => {
    await expect(start({ SourceArn: work.arn })).rejects.toThrow(
      /Source queue must be configured as a Dead Letter Queue/,
    )
    await expect(start({ SourceArn: `${dead.arn}-no` })).rejects.toMatchObject({ name: 'ResourceNotFoundException' })
    await expect(start({ MaxNumberOfMessagesPerSecond: 501 })).rejects.toThrow(/between 1 and 500/)
    for (const body of ['a', 'b', 'c']) await send(body)
    for (let i = 0; i < 3; i++) {
      await receive()
      pass(60)
    }
    await start({ MaxNumberOfMessagesPerSecond: 1 })
    await expect(start()).rejects.toThrow(/already a task running/)
  })
})
