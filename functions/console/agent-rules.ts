import { InstallationPolicy, setPolicy } from '#shared/domain/installations/policy.ts'
import { installationSchema } from '#shared/domain/installations/present.ts'
import {
  Bans,
  CrossAgent,
  OrganizationSettingsSchema,
  setOrganization,
} from '#shared/domain/people/workspace-settings.ts'
import type { ConsoleCaller } from '#shared/http/callers.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'

const actor = ({ workspace, user }: ConsoleCaller) => ({ workspaceId: workspace.id, userId: user.id })

const setCrossAgent = defineEndpoint({
  id: 'console.settings.setCrossAgent',
  group: 'console',
  method: 'PUT',
  path: '/console/settings/cross-agent',
  caller: 'console',
  role: 'owner',
  summary: 'Switch calls between agents on or off',
  description:
    'Off, every `ask_agent` and `delegate_task` of the organization’s agents is `tool_denied` with the reason ' +
    '`organization`. What is under way goes on.',
  body: CrossAgent,
  response: OrganizationSettingsSchema,
  handler: ({ work, caller, body }) =>
    setOrganization(work, actor(caller), 'workspace.cross_agent_changed', { cross_agent_enabled: body.enabled }),
})

const setBans = defineEndpoint({
  id: 'console.settings.setBans',
  group: 'console',
  method: 'PUT',
  path: '/console/settings/bans',
  caller: 'console',
  role: 'admin',
  summary: 'Ban tools and scopes for every agent of the organization',
  description:
    'Replaces both lists. A banned tool is `tool_denied` with the reason `organization`, a banned scope ' +
    '`scope_denied_by_admin`, from the next request on. `GET /console/me` shows them.',
  body: Bans,
  response: OrganizationSettingsSchema,
  handler: ({ work, caller, body }) => setOrganization(work, actor(caller), 'workspace.bans_changed', body),
})

const setInstallationPolicy = defineEndpoint({
  id: 'console.installations.setPolicy',
  group: 'console',
  method: 'PUT',
  path: '/console/installations/{id}/policy',
  params: { id: 'installation' },
  caller: 'console',
  role: 'owner',
  summary: 'Set who may call an agent, and what it may not call',
  description:
    'A field that is not given stays as it is. A caller that is not allowed gets `tool_denied` with the reason ' +
    '`agent_policy`, a denied tool the reason `installation`.',
  body: InstallationPolicy,
  response: installationSchema,
  handler: ({ work, caller, params, body }) => setPolicy(work, actor(caller), params.id, body),
})

export const agentRuleEndpoints = [setCrossAgent, setBans, setInstallationPolicy]
