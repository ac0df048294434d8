import { type App, ORCHESTRATOR_SLUG } from '#shared/catalogue/apps/index.ts'
import type { Workspace } from '#shared/identity/people/index.ts'
import { derivedId, idTime, NO_TIME } from '#shared/kernel/ids.ts'
import type { Scope } from '#shared/kernel/scopes.ts'
import type { Installation } from '../installations/entity.ts'

export const ORCHESTRATOR_APP_ID = derivedId('app', 0, ORCHESTRATOR_SLUG)
export const ORCHESTRATOR_VERSION_ID = derivedId('version', 0, ORCHESTRATOR_SLUG)

const AGENT_ID = 'platform.orchestrator'
const VERSION = '1.0.0'

/** The most it may ever do, before the blocks of a workspace and the platform. It has no webhooks for events. */
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

/** Returns the id of a person's orchestrator: always the same, and unique to the person. */
export const orchestratorId = (workspaceId: string, userId: string): string =>
  derivedId('installation', idTime(userId), `${ORCHESTRATOR_SLUG}\n${workspaceId}\n${userId}`)

/** Returns the orchestrator's app. Its name is the platform's choice. */
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
  created_at: NO_TIME,
  updated_at: 0,
})

/** Returns a person's orchestrator as an installation. No agent may call it. */
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
  consents: { direct: [...SCOPES], grants: 0, granted: {} },
  consent_version: 0,
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
