import type { Endpoint, Group } from './endpoint.ts'

/** Groups of endpoints in each OpenAPI document, by the document's name. `openapi` is the complete one. */
const GROUPS = {
  openapi: ['oauth', 'connect', 'api', 'mcp', 'a2a', 'developer', 'console', 'admin', 'docs'],
  integration: ['oauth', 'api'],
  developer: ['developer'],
  console: ['console'],
  admin: ['admin'],
  essentials: ['connect', 'api'],
} as const satisfies Record<string, readonly Group[]>

export type DocumentName = keyof typeof GROUPS

export const DOCUMENT_NAMES = Object.keys(GROUPS) as DocumentName[]

/** The operations of `essentials`: what an integration needs first. */
const ESSENTIALS: readonly string[] = [
  'connect.token.exchange',
  'connect.token.revoke',
  'api.me.read',
  'api.workspace.read',
  'api.members.list',
  'api.agents.list',
  'api.runs.start',
  'api.runs.read',
  'api.runs.list',
  'api.runs.cancel',
  'api.runs.stream',
  'api.runs.addSteps',
  'api.runs.askInput',
  'api.runs.complete',
  'api.runs.renewCallbackToken',
  'api.tools.list',
  'api.tools.invoke',
  'api.webhooks.create',
  'api.webhooks.list',
  'api.webhooks.delete',
  'api.webhooks.test',
  'api.webhooks.listDeliveries',
  'api.events.list',
  'api.tasks.list',
  'api.tasks.read',
  'api.tasks.progress',
  'api.tasks.report',
  'api.conversations.messages.write',
  'api.files.create',
  'api.files.read',
]

/** Reports whether a document describes an endpoint. */
export const isDescribed = (name: DocumentName, { id, group }: Pick<Endpoint, 'id' | 'group'>): boolean =>
  (GROUPS[name] as readonly Group[]).includes(group) && (name !== 'essentials' || ESSENTIALS.includes(id))
