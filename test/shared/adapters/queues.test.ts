import { SendMessageBatchCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { mockClient } from 'aws-sdk-client-mock'
import { beforeEach, expect, test } from 'vitest'
import { createQueues } from '#shared/adapters/queues.ts'

const sqs = mockClient(SQSClient)
beforeEach(() => {
  sqs.reset()
  sqs.on(SendMessageCommand).resolves({})
  sqs.on(SendMessageBatchCommand).resolves({})
})

const queues = createQueues({ delivery: 'https://sqs.example/delivery' })
const messages = (n: number) => Array.from({ length: n }, (_, i) => ({ body: { i } }))

test('one message is sent alone, several in batches of ten', async () => {
  await queues.send('delivery', messages(1))
  await queues.send('delivery', messages(21))
  expect(sqs.commandCalls(SendMessageCommand)).toHaveLength(1)
  const sizes = sqs.commandCalls(SendMessageBatchCommand).map(({ args: [{ input }] }) => input.Entries?.length)
  expect(sizes).toEqual([10, 10, 1])
})

test('a delay is rounded up to seconds and limited to the 15 minutes that SQS allows', async () => {
  await queues.send('delivery', [{ body: {}, delayMs: 1 }])
  await queues.send('delivery', [{ body: {}, delayMs: 3_600_000 }])
  const delays = sqs.commandCalls(SendMessageCommand).map(({ args: [{ input }] }) => input.DelaySeconds)
  expect(delays).toEqual([1, 900])
})

test('a group is sent with the message if there is one', async () => {
  await queues.send('delivery', [{ body: {}, group: 'whk_1' }, { body: {} }])
  const entries = sqs.commandCalls(SendMessageBatchCommand)[0]?.args[0].input.Entries
  expect(entries?.map(({ MessageGroupId }) => MessageGroupId)).toEqual(['whk_1', undefined])
})

test('a batch that SQS accepted in part is an error, so the sender repeats it', async () => {
  sqs.on(SendMessageBatchCommand).resolves({
    Failed: [{ Id: '1', Code: 'InternalError', SenderFault: false, Message: 'try again' }],
  })
  await expect(queues.send('delivery', messages(2))).rejects.toThrow('delivery did not accept 1 messages: try again')
})

test('a queue that the function wasn’t given is refused before anything is sent', async () => {
  await expect(queues.send('dispatch', messages(1))).rejects.toThrow('may not send to the queue dispatch')
  expect(sqs.calls()).toHaveLength(0)
})
