import { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs'
import type { MessageQueues } from '../domain/ports.ts'
import type { QueueName } from '../kernel/queue-names.ts'

/** SQS ends delays at 15 minutes; whoever receives earlier than due sends it on (design §5). */
export const MAX_DELAY_SECONDS = 900

/** Sends to the platform's queues. The client is made at first use. */
export const createQueues = (urls: Partial<Record<QueueName, string>>): MessageQueues => {
  let client: SQSClient | undefined
  return {
    async send(queue, messages) {
      const QueueUrl = urls[queue]
      if (!QueueUrl) throw new Error(`this function may not send to the queue ${queue}`)
      client ??= new SQSClient({ maxAttempts: 4 })
      for (let i = 0; i < messages.length; i += 10) {
        const { Failed } = await client.send(
          new SendMessageBatchCommand({
            QueueUrl,
            Entries: messages.slice(i, i + 10).map(({ body, delayMs = 0, group }, n) => ({
              Id: String(n),
              MessageBody: JSON.stringify(body),
              DelaySeconds: Math.min(MAX_DELAY_SECONDS, Math.ceil(delayMs / 1_000)),
              // Fair queues: a tenant with much to send waits behind itself, not in front of others.
              ...(group && { MessageGroupId: group }),
            })),
          }),
        )
        if (Failed?.length)
          throw new Error(`${Failed.length} messages were not taken by ${queue}: ${Failed[0]?.Message}`)
      }
    },
  }
}
