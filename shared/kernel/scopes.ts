/** Every scope with the words that consent screen and `GET /oauth/scopes` show (specification "Scopes"). */
export const SCOPES = {
  'workspace:read': ['Read the organization’s name and settings', false],
  'members:read': ['List the organization’s staff', false],
  'agents:read': ['View the organization’s agents', false],
  'agents:write': ['Configure the organization’s agents', false],
  'runs:read': ['Read runs', false],
  'runs:write': ['Start runs and report their progress', false],
  'tools:invoke': ['Call platform tools, some of which act outside the organization after approval', true],
  'files:read': ['Read files and folders', false],
  'files:write': ['Create and delete files', true],
  'webhooks:manage': ['Subscribe to events', false],
  'chat:read': ['Read conversations', false],
  'chat:write': ['Write messages in conversations', true],
  'tasks:read': ['Read tasks', false],
  'tasks:write': ['Work on tasks and hand them to other agents', false],
} as const satisfies Record<string, readonly [description: string, dangerous: boolean]>

export type Scope = keyof typeof SCOPES

export const SCOPE_NAMES = Object.keys(SCOPES) as [Scope, ...Scope[]]

export const isScope = (text: string): text is Scope => Object.hasOwn(SCOPES, text)

/** True when the granted scopes cover the required one; a `:write` implies its `:read`. */
export const covers = (granted: readonly string[], required: Scope): boolean =>
  granted.includes(required) || (required.endsWith(':read') && granted.includes(required.replace(':read', ':write')))

/** The scopes that both lists allow, in the table's order; a `:write` on one side meets a `:read` on the other as the read. */
export const intersect = (one: readonly string[], other: readonly string[]): Scope[] =>
  SCOPE_NAMES.filter(
    (scope) => (one.includes(scope) && covers(other, scope)) || (other.includes(scope) && covers(one, scope)),
  )
