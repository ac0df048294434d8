import { type Grant, GrantEntity } from '#shared/access/grants/index.ts'
import { withInstallation } from '#shared/access/installations/index.ts'
import { newTokenPair } from '#shared/access/oauth/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import type { DeveloperRole, Giver } from '#shared/identity/developers/index.ts'
import { stampOf } from '#shared/kernel/ids.ts'
import { readableScopes } from '#shared/kernel/scopes.ts'
import { prepareSandboxInstall } from './installation.ts'
import type { SandboxTokenView } from './schemas.ts'

/**
 * Issues an ordinary access token for the app's sandbox installation. Creates the installation if needed and otherwise
 * keeps its version. Each call creates its own grant, so refreshing or losing one token doesn't affect others.
 * @param bearer a viewer's token only reads. One that a session gives ends with it, and has no refresh token.
 * @throws `no_manifest`, `app_suspended`, `installation_suspended`
 */
export const issueSandboxToken = async (
  work: Work,
  appId: string,
  bearer: Giver & { role: DeveloperRole; isSession: boolean },
): Promise<SandboxTokenView> => {
  const install = await prepareSandboxInstall(work, bearer.developer_id, appId, 'attached')
  const grantId = work.id('grant')
  return withInstallation(work, { ...install, grantId }, async ({ installation, writes }) => {
    const now = work.clock.now()
    const grant: Grant = {
      ...stampOf(grantId),
      installation_id: installation.id,
      workspace_id: installation.workspace_id,
      app_id: appId,
      scopes: bearer.role === 'viewer' ? readableScopes(install.scopes) : [...install.scopes],
      status: 'active',
      approved_by: install.owner,
      kind: 'sandbox',
      giver: { developer_id: bearer.developer_id, given_by: bearer.given_by },
      last_used_at: now,
    }
    const pair = await newTokenPair(work, install.app, installation, grant)
    const view = {
      ...pair.response,
      ...(bearer.isSession && { refresh_token: null }),
      agent_version: installation.version,
    }
    await work.commit([...writes, GrantEntity.create(grant), ...(bearer.isSession ? [] : pair.writes)], view)
    return view
  })
}
