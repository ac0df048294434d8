import { defineEndpoint } from '#shared/http/endpoint.ts'
import { ModeratedInstallationSchema, SetStatus, setInstallationStatus } from '#shared/moderation/suspension/index.ts'

const setStatus = defineEndpoint({
  id: 'admin.installations.setStatus',
  group: 'admin',
  method: 'POST',
  path: '/admin/installations/{id}/status',
  params: { id: 'installation' },
  caller: 'admin',
  role: 'superadmin',
  summary: 'Suspend an installation or end its suspension',
  description:
    'While an installation is suspended, its tokens get `installation_suspended` from their next request. No work is ' +
    'handed to the agent, including runs queued earlier. Active runs are cancelled, and no webhooks are sent. ' +
    'Uninstalling and reinstalling doesn’t lift a suspension: the new installation is suspended as well. The ' +
    'response is `conflict` if the installation was uninstalled, or if you end the suspension in a workspace that is ' +
    'itself suspended.',
  body: SetStatus,
  response: ModeratedInstallationSchema,
  errors: ['conflict'],
  handler: ({ work, caller, params, body }) => setInstallationStatus(work, caller, params.id, body),
})

export const endpoints = [setStatus]
