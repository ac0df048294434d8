import type { QueueName } from '../queue-names.ts'

/** The platform's queues. A message only wakes a worker. The record is the source of truth. */
export interface MessageQueues {
  /** Sends messages. `delayMs` is capped at the queue's maximum of 15 minutes. `group` is the tenant for fair queues. */
  send(queue: QueueName, messages: { body: unknown; delayMs?: number; group?: string }[]): Promise<void>
}
