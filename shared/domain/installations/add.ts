import { AppEntity } from '../../entities/apps.ts'
import { ClaimEntity } from '../../entities/developers.ts'
import { fail } from '../../kernel/errors.ts'
import { covers, SCOPE_NAMES, type Scope } from '../../kernel/scopes.ts'
import { refuseBanned, refuseBlocked } from '../consents/permitted.ts'
import type { Work } from '../deps.ts'
import type { Belonging } from '../people/memberships.ts'
import { withInstallation } from './install.ts'
import { type InstallationDetailsView, presentDetails } from './present.ts'
import { installableVersion } from './version.ts'

/**
 * `POST /console/installations`: installs the promoted version without issuing tokens, for agents that need no backend
 * of their own (decisions §3). Installed already, it takes the scopes given now and stays on its version.
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
  if (!app) throw fail('not_found', { message: 'There is no app with this slug.' })
  if (app.status === 'suspended') throw fail('app_suspended')
  refuseBlocked(app, belonging)
  const wanted = scopes ?? (app.requested_scopes as Scope[])
  const outside = wanted.find((scope) => !covers(app.requested_scopes, scope))
  if (outside !== undefined) {
    throw fail('insufficient_scope', {
      message: `The app does not request the scope ${outside}.`,
      fix: 'Grant only scopes that the app requests.',
      details: { required_scope: outside, granted_scopes: app.requested_scopes },
    })
  }
  refuseBanned(belonging, wanted)
  const install = {
    app,
    version: await installableVersion(work, app, workspace),
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
