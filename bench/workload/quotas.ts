import type { QueueName } from '#shared/kernel/queue-names.ts'

/** Quota of AWS or of a stage. */
export interface Quota {
  name: string
  /** Limit per second, or in parallel. */
  limit: number
  /** Way to raise it: by AWS on request, by a setting of the stage, or not at all. */
  raised: 'AWS' | 'nobody' | `setting ${string}`
}

/**
 * Default quotas of AWS in us-east-1, from the services' own quota pages as of 2026-11: "Amazon API Gateway quotas", "Lambda quotas",
 * "Quotas in Amazon DynamoDB", "Amazon EventBridge quotas", "Amazon SQS message quotas". Other regions have less of some.
 */
export const AWS_QUOTAS = {
  apiRequests: { name: 'API Gateway: requests', limit: 10_000, raised: 'AWS' },
  executions: { name: 'Lambda: executions at once', limit: 1_000, raised: 'AWS' },
  readUnits: { name: 'DynamoDB: read units of a table', limit: 40_000, raised: 'AWS' },
  writeUnits: { name: 'DynamoDB: write units of a table and its indexes', limit: 40_000, raised: 'AWS' },
  busEvents: { name: 'EventBridge: PutEvents', limit: 10_000, raised: 'AWS' },
  ruleTargets: { name: 'EventBridge: events brought to a target', limit: 18_750, raised: 'AWS' },
  inFlight: { name: 'SQS: messages of a queue being worked on', limit: 120_000, raised: 'nobody' },
} as const satisfies Record<string, Quota>

/** Maximum of write units per second of one partition, independent of the table. */
const PARTITION_WRITES = 1_000

export const stageThrottle = (rate: number): Quota => ({
  name: 'the stage’s own throttle: requests',
  limit: rate,
  raised: 'setting throttle',
})

export const sharded = (what: string, shards: number, setting: 'dueShards' | 'counterShards'): Quota => ({
  name: `${what}: write units of its ${shards} shards`,
  limit: shards * PARTITION_WRITES,
  raised: `setting ${setting}`,
})

export const workersOf = (queue: QueueName, limit: number): Quota => ({
  name: `executions at once that take from ${queue}`,
  limit,
  raised: 'setting queueConcurrency',
})
