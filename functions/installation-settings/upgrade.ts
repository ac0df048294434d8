import { UpgradedSchema, upgradeInstallation } from '#shared/domain/installations/upgrade.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'

export const upgrade = defineEndpoint({
  id: 'console.installations.upgrade',
  group: 'console',
  method: 'POST',
  path: '/console/installations/{id}/upgrade',
  params: { id: 'installation' },
  caller: 'console',
  role: 'admin',
  summary: 'Move an agent to its app’s promoted version',
  description:
    'Runs that have begun go on with the version they began with. No scope is granted by it: `missing_scopes` says what the new ' +
    'version needs and was not granted. Settings stay; those that the new version does not allow are not given to the agent and ' +
    'count as not set (`settings_complete`, `missing_settings`) until they are written anew. With the promoted version already, ' +
    'it changes nothing.',
  response: UpgradedSchema,
  errors: ['app_suspended', 'installation_suspended', 'no_manifest', 'conflict'],
  needs: ['keys:data', 'objects:read'],
  handler: ({ work, caller, params }) => upgradeInstallation(work, caller, params.id),
})
