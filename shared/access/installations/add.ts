import { AppEntity } from '#shared/catalogue/apps/index.ts'
import { ClaimEntity } from '#shared/foundation/claims/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import type { Belonging } from '#shared/identity/people/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { covers, SCOPE_NAMES, type Scope } from '#shared/kernel/scopes.ts'
import { withInstallation } from './install.ts'
import { refuseBlocked, refuseBlockedScopes } from './permissions.ts'
import { type InstallationDetailsView, presentDetails } from './present.ts'
import { loadInstallableVersion } from './version.ts'

/**
 * Handles `POST /console/installations`: installs the promoted version without issuing tokens, for agents without a
 * backend of their own (contract/installations.md#installing). An existing installation gets the given scopes and stays
 * on its version.
 * @param scopes default: all that the app requests
 * @throws `not_found`, `app_suspended`, `app_not_approved`, `insufficient_scope`, `scope_denied_by_admin`, `no_manifest`,
 * `installation_suspended`
 */
export const addInstallation = async (
  work: Work,
  belonging: Belonging,
  { slug, scopes }: { slug: string; scopes?: readonly Scope[] | undefined },
): Promise<InstallationDetailsView> => {
  const { workspace, member } = belonging
  const claim = await work.table.get(ClaimEntity, { kind: 'slug', value: slug })
  const app = claim && (await work.table.get(AppEntity, { id: claim.owner_id }))
  if (!app) throw fail('not_found', { message: 'No app has this slug.' })
  if (app.status === 'suspended') throw fail('app_suspended')
  refuseBlocked(app, belonging)
  const wanted = scopes ?? (app.requested_scopes as Scope[])
  const outside = wanted.find((scope) => !covers(app.requested_scopes, scope))
  if (outside !== undefined) {
    throw fail('insufficient_scope', {
      message: `The app doesn’t request the scope ${outside}.`,
      fix: 'Grant only scopes that the app requests.',
      details: { required_scope: outside, granted_scopes: app.requested_scopes },
    })
  }
  refuseBlockedScopes(belonging, wanted)
  const install = {
    app,
    version: await loadInstallableVersion(work, app, workspace),
    workspace,
    scopes: SCOPE_NAMES.filter((scope) => wanted.includes(scope)),
    owner: { id: member.user_id, name: member.name },
  }
  return withInstallation(work, install, async ({ installation, writes }) => {
    const view = presentDetails(installation, app)
    await work.commit(writes, view)
    return view
  })
}
