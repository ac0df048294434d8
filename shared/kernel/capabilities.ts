import type { QueueName } from './queue-names.ts'

/** What a function may touch. Endpoints and workers declare these; infra turns them into exact IAM actions. */
export type Capability =
  | 'table:read'
  | 'table:write'
  | 'objects:read'
  | 'objects:write'
  /** The content of customers' files; apart from the other objects, so that few functions reach it. */
  | 'files:read'
  | 'files:write'
  | 'keys:tokens'
  | 'keys:admin'
  | 'keys:data'
  | 'bus:put'
  /** Speaks as the platform's own bot: its secret, and where the Bot API is. */
  | 'bot'
  /** Calls the language model: its key, and where it is. */
  | 'model'
  /** Reads what CloudWatch measures of the deployment, and its alarms. */
  | 'metrics:read'
  | `queue:${QueueName}`
