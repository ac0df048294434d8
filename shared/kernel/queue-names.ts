/** Names of the platform's queues. Their purposes are in foundation/queues/queues.ts. */
export const QUEUE_NAMES = [
  'fanout',
  'dispatch',
  'delivery',
  'approved-tools',
  'inline-runs',
  'removals',
  'statistics',
  'messenger',
  'notifications',
  'logos',
  'live',
  'overdue',
] as const

export type QueueName = (typeof QUEUE_NAMES)[number]
