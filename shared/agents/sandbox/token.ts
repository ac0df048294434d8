import { type Grant, GrantEntity } from '#shared/access/grants/index.ts'
import { withInstallation } from '#shared/access/installations/index.ts'
import { newTokenPair } from '#shared/access/oauth/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import type { DeveloperRole } from '#shared/identity/developers/index.ts'
import { covers, SCOPE_NAMES } from '#shared/kernel/scopes.ts'
import { prepareSandboxInstall } from './installation.ts'
import type { SandboxTokenView } from './schemas.ts'

/**
 * Issues an ordinary access token for the app's sandbox installation. Creates the installation if needed and otherwise
 * keeps its version. Each call creates its own grant, so refreshing or losing one token doesn't affect others.
 * @param bearer a viewer's token only reads. A teammate's has no refresh token, so that it doesn't outlast their access.
 * @throws `no_manifest`, `app_suspended`, `installation_suspended`
 */
export const issueSandboxToken = async (
  work: Work,
  developerId: string,
  appId: string,
  bearer: { role: DeveloperRole; member?: object },
): Promise<SandboxTokenView> => {
  const install = await prepareSandboxInstall(work, developerId, appId, 'attached')
  const grantId = work.id('grant')
  return withInstallation(work, { ...install, grantId }, async ({ installation, writes }) => {
    const now = work.clock.now()
    const grant: Grant = {
      id: grantId,
      installation_id: installation.id,
      workspace_id: installation.workspace_id,
      app_id: appId,
      scopes: bearer.role === 'viewer' ? readScopes(install.scopes) : [...install.scopes],
      status: 'active',
      approved_by: install.owner,
      kind: 'sandbox',
      created_at: now,
      last_used_at: now,
    }
    const pair = await newTokenPair(work, install.app, installation, grant)
    const view = {
      ...pair.response,
      ...(bearer.member && { refresh_token: null }),
      agent_version: installation.version,
    }
    await work.commit([...writes, GrantEntity.create(grant), ...(bearer.member ? [] : pair.writes)], view)
    return view
  })
}

/** Returns the read scopes among the given ones, those that a write scope implies included. */
const readScopes = (scopes: readonly string[]): string[] =>
  SCOPE_NAMES.filter((scope) => scope.endsWith(':read') && covers(scopes, scope))
