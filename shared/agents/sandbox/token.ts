import { type Grant, GrantEntity } from '#shared/access/grants/index.ts'
import { withInstallation } from '#shared/access/installations/index.ts'
import { newTokenPair } from '#shared/access/oauth/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { prepareSandboxInstall } from './installation.ts'
import type { SandboxTokenView } from './schemas.ts'

/**
 * Issues an ordinary access token for the app's sandbox installation. Creates the installation if needed and otherwise
 * keeps its version. Each call creates its own grant, so refreshing or losing one token doesn't affect others.
 * @throws `no_manifest`, `app_suspended`, `installation_suspended`
 */
export const issueSandboxToken = async (work: Work, developerId: string, appId: string): Promise<SandboxTokenView> => {
  const install = await prepareSandboxInstall(work, developerId, appId, 'attached')
  const grantId = work.id('grant')
  return withInstallation(work, { ...install, grantId }, async ({ installation, writes }) => {
    const now = work.clock.now()
    const grant: Grant = {
      id: grantId,
      installation_id: installation.id,
      workspace_id: installation.workspace_id,
      app_id: appId,
      scopes: [...install.scopes],
      status: 'active',
      approved_by: install.owner,
      kind: 'sandbox',
      created_at: now,
      last_used_at: now,
    }
    const pair = await newTokenPair(work, install.app, installation, grant)
    const view = { ...pair.response, agent_version: installation.version }
    await work.commit([...writes, GrantEntity.create(grant), ...pair.writes], view)
    return view
  })
}
