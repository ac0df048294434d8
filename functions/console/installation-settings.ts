import { readSettings, SettingsSchema, WriteSettings, writeSettings } from '#shared/access/installations/index.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'

const get = defineEndpoint({
  id: 'console.installations.getSettings',
  group: 'console',
  method: 'GET',
  path: '/console/installations/{id}/settings',
  params: { id: 'installation' },
  caller: 'console',
  summary: 'Get an agent’s settings and their form',
  description:
    'Available to every member. The form is the `config` of the installed version. After an upgrade, a value that ' +
    'the version no longer allows isn’t shown and counts as not set. The same applies to a secret that the version ' +
    'no longer declares as one.',
  response: SettingsSchema,
  needs: ['keys:data', 'objects:read'],
  handler: ({ work, caller, params }) => readSettings(work, caller.workspace.id, params.id),
})

const put = defineEndpoint({
  id: 'console.installations.setSettings',
  group: 'console',
  method: 'PUT',
  path: '/console/installations/{id}/settings',
  params: { id: 'installation' },
  caller: 'console',
  role: 'admin',
  summary: 'Update an agent’s settings',
  description:
    'The agent gets the settings with its next run. They are validated against the manifest’s `config`: ' +
    '`details.fields` names every setting that is missing, invalid or unknown, and `details.errors` says how to fix ' +
    'each one. Secrets are stored encrypted and never shown again. The audit records which settings changed, but not ' +
    'their values.',
  body: WriteSettings,
  response: SettingsSchema,
  errors: ['invalid_config', 'payload_too_large', 'conflict'],
  needs: ['keys:data', 'objects:read'],
  handler: ({ work, caller, params, body }) =>
    writeSettings(work, { workspaceId: caller.workspace.id, userId: caller.user.id }, params.id, body.values),
})

export const endpoints = [get, put]
