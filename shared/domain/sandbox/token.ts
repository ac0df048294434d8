import { type Grant, GrantEntity } from '../../entities/installations.ts'
import type { Work } from '../deps.ts'
import { withInstallation } from '../installations/install.ts'
import { newTokenPair } from '../oauth/token-pair.ts'
import { sandboxInstall } from './installation.ts'
import type { SandboxTokenView } from './schemas.ts'

/**
 * An ordinary access token for the app's sandbox installation, which is made if there is none and stays on its version
 * if there is. Each call makes a grant of its own, so that refreshing or losing one token leaves the others alone.
 * @throws `no_manifest`, `app_suspended`, `installation_suspended`
 */
export const issueSandboxToken = async (work: Work, developerId: string, appId: string): Promise<SandboxTokenView> => {
  const install = await sandboxInstall(work, developerId, appId, 'attached')
  const grantId = work.id('grant')
  return withInstallation(work, install, async ({ installation, writes }) => {
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
