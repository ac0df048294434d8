import { setInstallationStatus } from '#shared/domain/suspension/installation.ts'
import { ModeratedInstallationSchema, SetStatus } from '#shared/domain/suspension/schemas.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'

const setStatus = defineEndpoint({
  id: 'admin.installations.setStatus',
  group: 'admin',
  method: 'POST',
  path: '/admin/installations/{id}/status',
  params: { id: 'installation' },
  caller: 'admin',
  role: 'superadmin',
  summary: 'Suspend an installation, or end its suspension',
  description:
    'While it is suspended its tokens get `installation_suspended` from the next request on, nothing is handed to it, also not what ' +
    'was queued before, runs under way are cancelled, and no webhook goes out. Uninstalling it and installing it again lifts nothing: ' +
    'the new one is suspended, too. `conflict` for one that was uninstalled, and for ending it in a workspace that is suspended itself.',
  body: SetStatus,
  response: ModeratedInstallationSchema,
  errors: ['conflict'],
  handler: ({ work, caller, params, body }) => setInstallationStatus(work, caller, params.id, body),
})

export const installationEndpoints = [setStatus]
