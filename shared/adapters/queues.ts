import { SendMessageBatchCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { AWS_CALLS, withoutUserAgent } from '../kernel/aws-calls.ts'
import type { MessageQueues } from '../kernel/ports/queues.ts'
import type { QueueName } from '../kernel/queue-names.ts'
import { traceAbout } from '../kernel/tracing/scope.ts'

/**
 * SQS limits delays to 15 minutes. A worker that receives a message early sends it on (architecture.md#queue-delays).
 */
const MAX_DELAY_SECONDS = 900

type Message = Parameters<MessageQueues['send']>[1][number]

/** Adds the current trace to a message. Its worker continues it. */
const withTrace = (body: Message['body']) => {
  const trace = traceAbout()
  return trace && typeof body === 'object' ? { ...body, trace } : body
}

const fieldsOf = ({ body, delayMs = 0, group }: Message) => ({
  MessageBody: JSON.stringify(withTrace(body)),
  DelaySeconds: Math.min(MAX_DELAY_SECONDS, Math.ceil(delayMs / 1_000)),
  // Fair queues: a tenant with many messages delays only its own messages.
  ...(group && { MessageGroupId: group }),
})

/** Creates the sender for the platform's queues. The client is created on first use. */
export const createQueues = (urls: Partial<Record<QueueName, string>>): MessageQueues => {
  let client: SQSClient | undefined
  return {
    async send(queue, messages) {
      const QueueUrl = urls[queue]
      if (!QueueUrl) throw new Error(`this function may not send to the queue ${queue}`)
      client ??= withoutUserAgent(new SQSClient(AWS_CALLS))
      const [only] = messages
      if (only && messages.length === 1) {
        await client.send(new SendMessageCommand({ QueueUrl, ...fieldsOf(only) }))
        return
      }
      for (let i = 0; i < messages.length; i += 10) {
        const Entries = messages.slice(i, i + 10).map((message, n) => ({ Id: String(n), ...fieldsOf(message) }))
        const { Failed } = await client.send(new SendMessageBatchCommand({ QueueUrl, Entries }))
        if (Failed?.length) throw new Error(`${queue} did not accept ${Failed.length} messages: ${Failed[0]?.Message}`)
      }
    },
  }
}
