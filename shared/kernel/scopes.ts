/**
 * Scopes with their descriptions for the consent page and `GET /oauth/scopes` (contract/oauth-and-tokens.md#scopes).
 */
export const SCOPES = {
  'workspace:read': ['View the workspace’s name and settings', false],
  'members:read': ['List the workspace’s members', false],
  'agents:read': ['View the workspace’s agents', false],
  'agents:write': ['Configure the workspace’s agents', false],
  'runs:read': ['Read runs', false],
  'runs:write': ['Start runs and report their progress', false],
  'tools:invoke': ['Call platform tools, including some that act outside the workspace after approval', true],
  'files:read': ['Read files and folders', false],
  'files:write': ['Create and delete files', true],
  'webhooks:manage': ['Subscribe to events', false],
  'chat:read': ['Read conversations', false],
  'chat:write': ['Write messages in conversations', true],
  'tasks:read': ['Read tasks', false],
  'tasks:write': ['Work on tasks and delegate them to other agents', false],
} as const satisfies Record<string, readonly [description: string, dangerous: boolean]>

export type Scope = keyof typeof SCOPES

export const SCOPE_NAMES = Object.keys(SCOPES) as [Scope, ...Scope[]]

export const isScope = (text: string): text is Scope => Object.hasOwn(SCOPES, text)

/** Returns true if the granted scopes cover the required one. A `:write` implies its `:read`. */
export const covers = (granted: readonly string[], required: Scope): boolean =>
  granted.includes(required) || (required.endsWith(':read') && granted.includes(required.replace(':read', ':write')))

/** Returns the read scopes among the given ones, those that a write scope implies included. */
export const readableScopes = (granted: readonly string[]): Scope[] =>
  SCOPE_NAMES.filter((scope) => scope.endsWith(':read') && covers(granted, scope))

/** Returns the scopes that both lists allow, in the table's order. A `:write` and its `:read` intersect in the `:read`. */
export const intersect = (one: readonly string[], other: readonly string[]): Scope[] =>
  SCOPE_NAMES.filter(
    (scope) => (one.includes(scope) && covers(other, scope)) || (other.includes(scope) && covers(one, scope)),
  )
