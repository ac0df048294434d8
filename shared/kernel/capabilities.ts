import type { QueueName } from './queue-names.ts'

/** What a function may touch. Endpoints and workers declare these; infra turns them into exact IAM actions. */
export type Capability =
  | 'table:read'
  | 'table:write'
  | 'objects:read'
  | 'objects:write'
  | 'keys:tokens'
  | 'keys:admin'
  | 'keys:data'
  | 'bus:put'
  | `queue:${QueueName}`
