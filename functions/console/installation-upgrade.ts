import { UpgradedSchema, upgradeInstallation } from '#shared/access/installations/index.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'

const upgrade = defineEndpoint({
  id: 'console.installations.upgrade',
  group: 'console',
  method: 'POST',
  path: '/console/installations/{id}/upgrade',
  params: { id: 'installation' },
  caller: 'console',
  role: 'admin',
  summary: 'Upgrade an agent to its app’s promoted version',
  description:
    'Runs in progress stay on the version they started with. An upgrade doesn’t grant scopes: `missing_scopes` lists ' +
    'those that the new version needs but doesn’t have. Settings are kept. Settings that the new version doesn’t ' +
    'allow aren’t passed to the agent and count as not set (`settings_complete`, `missing_settings`) until you set ' +
    'them again. If the installation already has the promoted version, nothing changes.',
  response: UpgradedSchema,
  errors: ['app_suspended', 'installation_suspended', 'no_manifest', 'conflict'],
  needs: ['keys:data', 'objects:read'],
  handler: ({ work, caller, params }) => upgradeInstallation(work, caller, params.id),
})

export const endpoints = [upgrade]
