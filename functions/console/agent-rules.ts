import { InstallationPolicy, installationSchema, setPolicy } from '#shared/access/installations/index.ts'
import type { ConsoleCaller } from '#shared/http/callers.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import {
  Bans,
  CrossAgent,
  changeWorkspaceSettings,
  HostSettingsSchema,
  hostSettingsOf,
  OrganizationSettingsSchema,
  SetHosts,
  setHosts,
} from '#shared/identity/people/index.ts'

const actor = ({ workspace, user }: ConsoleCaller) => ({ workspaceId: workspace.id, userId: user.id })

const setCrossAgent = defineEndpoint({
  id: 'console.settings.setCrossAgent',
  group: 'console',
  method: 'PUT',
  path: '/console/settings/cross-agent',
  caller: 'console',
  role: 'owner',
  summary: 'Turn calls between agents on or off',
  description:
    'When off, every `ask_agent` and `delegate_task` call of the workspace’s agents gets `tool_denied` with the ' +
    'reason `organization`. Calls in progress continue.',
  body: CrossAgent,
  response: OrganizationSettingsSchema,
  handler: ({ work, caller, body }) =>
    changeWorkspaceSettings(work, actor(caller), 'workspace.cross_agent_changed', {
      cross_agent_enabled: body.enabled,
    }),
})

const setBans = defineEndpoint({
  id: 'console.settings.setBans',
  group: 'console',
  method: 'PUT',
  path: '/console/settings/bans',
  caller: 'console',
  role: 'admin',
  summary: 'Ban tools and scopes for all agents of the workspace',
  description:
    'Replaces both lists. From the next request, a banned tool gets `tool_denied` with the reason `organization`, ' +
    'and a banned scope gets `scope_denied_by_admin`. `GET /console/me` returns the lists.',
  body: Bans,
  response: OrganizationSettingsSchema,
  handler: ({ work, caller, body }) => changeWorkspaceSettings(work, actor(caller), 'workspace.bans_changed', body),
})

const readHosts = defineEndpoint({
  id: 'console.settings.readHosts',
  group: 'console',
  method: 'GET',
  path: '/console/settings/hosts',
  caller: 'console',
  summary: 'Get which assistants members may use',
  response: HostSettingsSchema,
  handler: async ({ caller }) => hostSettingsOf(caller.workspace),
})

const writeHosts = defineEndpoint({
  id: 'console.settings.setHosts',
  group: 'console',
  method: 'PUT',
  path: '/console/settings/hosts',
  caller: 'console',
  role: 'owner',
  summary: 'Set which assistants members may use',
  description:
    'From the next request on, the tokens of assistants that aren’t allowed are refused. An assistant is named by the host of ' +
    'its metadata document, or by the one that the person returns to after the consent.',
  body: SetHosts,
  response: HostSettingsSchema,
  handler: ({ work, caller, body }) => setHosts(work, actor(caller), body),
})

const setInstallationPolicy = defineEndpoint({
  id: 'console.installations.setPolicy',
  group: 'console',
  method: 'PUT',
  path: '/console/installations/{id}/policy',
  params: { id: 'installation' },
  caller: 'console',
  role: 'owner',
  summary: 'Set who can call an agent and what it can’t call',
  description:
    'Fields that you leave out don’t change. A caller that isn’t allowed gets `tool_denied` with the reason ' +
    '`agent_policy`. A denied tool gets it with the reason `installation`.',
  body: InstallationPolicy,
  response: installationSchema,
  handler: ({ work, caller, params, body }) => setPolicy(work, actor(caller), params.id, body),
})

export const endpoints = [setCrossAgent, setBans, readHosts, writeHosts, setInstallationPolicy]
