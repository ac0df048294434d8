import { readSettings, writeSettings } from '#shared/domain/installations/settings.ts'
import { SettingsSchema, WriteSettings } from '#shared/domain/installations/settings-schemas.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'

const get = defineEndpoint({
  id: 'console.installations.getSettings',
  group: 'console',
  method: 'GET',
  path: '/console/installations/{id}/settings',
  params: { id: 'installation' },
  caller: 'console',
  summary: 'Get an agent’s settings and the form for them',
  description:
    'For every member. The form is the `config` of the version that the installation has. A value that this version does not ' +
    'allow any more, after an upgrade, is not shown and counts as not set; so does a secret that this version does not call one.',
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
  summary: 'Set an agent’s settings',
  description:
    'The agent gets them with its next run. They are checked against the manifest’s `config`: `details.fields` names every ' +
    'setting that is missing, wrong or unknown, `details.errors` says how to mend each. Secrets are stored encrypted and ' +
    'never shown again; the audit keeps which settings changed, not their values.',
  body: WriteSettings,
  response: SettingsSchema,
  errors: ['invalid_config', 'payload_too_large', 'conflict'],
  needs: ['keys:data', 'objects:read'],
  handler: ({ work, caller, params, body }) =>
    writeSettings(work, { workspaceId: caller.workspace.id, userId: caller.user.id }, params.id, body.values),
})

export const settingsEndpoints = [get, put]
