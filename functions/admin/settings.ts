import {
  DeniedTools,
  PlatformSettingsSchema,
  PmIdentity,
  readPlatformSettings,
  setDeniedTools,
  setPmIdentity,
} from '#shared/domain/orchestrator/settings.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'

const common = { group: 'admin', caller: 'admin', response: PlatformSettingsSchema } as const

const read = defineEndpoint({
  ...common,
  id: 'admin.settings.read',
  method: 'GET',
  path: '/admin/settings',
  role: 'moderator',
  summary: 'The settings of the whole platform',
  handler: ({ work }) => readPlatformSettings(work),
})

const denyTools = defineEndpoint({
  ...common,
  id: 'admin.settings.setDeniedTools',
  method: 'PUT',
  path: '/admin/settings/denied-tools',
  role: 'superadmin',
  summary: 'Ban platform tools for everybody',
  description:
    'Replaces the list. A banned tool is `tool_denied` with the reason `platform` from the next call on, whoever calls: it ' +
    'is the strongest of all bans. A call that waits for a person’s approval is not executed any more.',
  body: DeniedTools,
  handler: ({ work, caller, body }) => setDeniedTools(work, caller, body),
})

const setIdentity = defineEndpoint({
  ...common,
  id: 'admin.settings.setPmIdentity',
  method: 'PUT',
  path: '/admin/settings/pm-identity',
  role: 'superadmin',
  summary: 'Say as whom the orchestrator speaks',
  description:
    'Its name and logo, as people see them in the main chat, and a rule of behaviour. What is not given is taken away.',
  body: PmIdentity,
  errors: ['blocked_target'],
  handler: ({ work, caller, body }) => setPmIdentity(work, caller, body),
})

export const settingsEndpoints = [read, denyTools, setIdentity]
