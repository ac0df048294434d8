import type { QueueName } from './queue-names.ts'

/** Resource that a function may use. Endpoints and workers declare these, and infra turns them into exact IAM actions. */
export type Capability =
  | 'table:read'
  | 'table:write'
  /** Names the bucket's address in a page's security policy. Not a permission. */
  | 'bucket:name'
  | 'objects:read'
  | 'objects:write'
  /** Content of customers' files. Kept separate from other objects so that few functions can reach it. */
  | 'files:read'
  | 'files:write'
  /** Logos that the platform fetched. */
  | 'logos:read'
  | 'logos:write'
  /** Packages for developers: reads those that were deployed earlier, and keeps those of this deployment. Replaces none. */
  | 'packages:keep'
  /** Public halves of the keys that sign tokens. */
  | 'keys:public'
  /** Issues tokens of one ring. */
  | 'keys:access'
  | 'keys:callback'
  | 'keys:console'
  | 'keys:staff'
  /** The ring `data`, and the data keys of workspaces, which it may create but not replace. */
  | 'keys:data'
  /** Destroys data keys of workspaces. */
  | 'keys:destroy'
  /** Signs receipts of people’s decisions. */
  | 'keys:receipts'
  /** Signs A2A cards of agents. */
  | 'keys:cards'
  | 'bus:put'
  /** Adds entries to the audit, and anchors them in the bucket. Every other role is denied it. */
  | 'audit:record'
  /** Marks receipts as used. Not an allowance: every other role is denied it. */
  | 'receipts:use'
  /** Acts as the platform's own bot: grants its secret and the Bot API's address. */
  | 'bot'
  /** Sends requests to addresses given by developers and customers. Not an AWS permission: decides whether the client is bundled. */
  | 'outgoing'
  /** Sends e-mail. */
  | 'mail'
  /** Calls the language model: grants its key and address. */
  | 'model'
  /** Reads the deployment's CloudWatch metrics and alarms. */
  | 'metrics:read'
  /** Sends to open pages over their live connections, and closes these. */
  | 'sockets'
  /** Names the address of live connections in a page. Not a permission. */
  | 'sockets:address'
  | `queue:${QueueName}`
