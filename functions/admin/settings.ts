import {
  DeniedTools,
  loadPlatformSettings,
  PlatformSettingsSchema,
  PmIdentity,
  setDeniedTools,
  setPmIdentity,
} from '#shared/agents/orchestrator/index.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'

const common = { group: 'admin', caller: 'admin', response: PlatformSettingsSchema } as const

const read = defineEndpoint({
  ...common,
  id: 'admin.settings.read',
  method: 'GET',
  path: '/admin/settings',
  role: 'moderator',
  summary: 'Get the platform-wide settings',
  handler: ({ work }) => loadPlatformSettings(work),
})

const denyTools = defineEndpoint({
  ...common,
  id: 'admin.settings.setDeniedTools',
  confirms: true,
  method: 'PUT',
  path: '/admin/settings/denied-tools',
  role: 'superadmin',
  summary: 'Ban platform tools for everyone',
  description:
    'Replaces the list of banned tools. Calls to a banned tool get `tool_denied` with the reason `platform` from the ' +
    'next call, whoever makes them. This ban overrides all others. A banned call that is waiting for a person’s ' +
    'approval isn’t executed.',
  body: DeniedTools,
  handler: ({ work, caller, body }) => setDeniedTools(work, caller, body),
})

const setIdentity = defineEndpoint({
  ...common,
  id: 'admin.settings.setPmIdentity',
  method: 'PUT',
  path: '/admin/settings/pm-identity',
  role: 'superadmin',
  summary: 'Set the orchestrator’s identity',
  description:
    'Sets the name and logo that people see in the main conversation, and a behavior rule for the orchestrator. ' +
    'Fields that you leave out are cleared.',
  body: PmIdentity,
  errors: ['blocked_target'],
  handler: ({ work, caller, body }) => setPmIdentity(work, caller, body),
})

export const endpoints = [read, denyTools, setIdentity]
