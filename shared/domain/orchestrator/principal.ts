import type { App } from '../../entities/apps.ts'
import type { Installation } from '../../entities/installations.ts'
import type { Workspace } from '../../entities/people.ts'
import { derivedId, idTime } from '../../kernel/ids.ts'
import type { Scope } from '../../kernel/scopes.ts'

/**
 * The internal orchestrator, as the platform's other parts see it: an app of nobody's that is installed for each person of
 * each workspace, and of which there are no records. So every rule that holds for an agent holds for it as it is: scopes,
 * bans, the chain, the rate, `allowed_callers`, the audit. Being one person's, it has that person's conversation, runs and
 * chain, and nobody else's.
 */

/** Names it in `allowed_callers` and in the audit; no developer can register it. */
export const ORCHESTRATOR_SLUG = 'orchestrator'

export const ORCHESTRATOR_APP_ID = derivedId('app', 0, ORCHESTRATOR_SLUG)
export const ORCHESTRATOR_VERSION_ID = derivedId('version', 0, ORCHESTRATOR_SLUG)
const AGENT_ID = 'platform.orchestrator'
const VERSION = '1.0.0'

/** All that it may ever do, before an organization's and the platform's bans. It has no webhooks to emit events to. */
const SCOPES: readonly Scope[] = [
  'workspace:read',
  'members:read',
  'agents:read',
  'runs:read',
  'runs:write',
  'tools:invoke',
  'tasks:read',
  'tasks:write',
  'files:read',
  'files:write',
  'chat:read',
  'chat:write',
]

/** The id by which a person's orchestrator is known; the same every time, and no other person's. */
export const orchestratorId = (workspaceId: string, userId: string): string =>
  derivedId('installation', idTime(userId), `${ORCHESTRATOR_SLUG}\n${workspaceId}\n${userId}`)

/** The orchestrator's app; its name is the platform's own. */
export const orchestratorApp = (name: string): App => ({
  id: ORCHESTRATOR_APP_ID,
  developer_id: 'platform',
  slug: ORCHESTRATOR_SLUG,
  type: 'agent',
  name,
  summary: 'Answers the main chat.',
  description: '',
  redirect_uris: [],
  requested_scopes: [...SCOPES],
  status: 'approved',
  client_secret_hash: '',
  secret_version: 0,
  signing_secrets: [],
  verified: true,
  created_at: 0,
  updated_at: 0,
})

/** A person's orchestrator as an installation. No agent may call it. */
export const orchestratorOf = (
  workspace: Pick<Workspace, 'id' | 'is_sandbox' | 'created_at'>,
  person: { id: string; name: string },
  name: string,
): Installation => ({
  id: orchestratorId(workspace.id, person.id),
  workspace_id: workspace.id,
  app_id: ORCHESTRATOR_APP_ID,
  app_slug: ORCHESTRATOR_SLUG,
  app_name: name,
  status: 'active',
  scopes: [...SCOPES],
  agent_id: AGENT_ID,
  version: VERSION,
  version_id: ORCHESTRATOR_VERSION_ID,
  is_sandbox: workspace.is_sandbox,
  allowed_callers: [],
  denied_tools: [],
  owner: { id: person.id, name: person.name },
  created_at: workspace.created_at,
  updated_at: workspace.created_at,
})
