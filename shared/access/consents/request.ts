import type { App } from '#shared/catalogue/apps/index.ts'
import { logoPath } from '#shared/catalogue/logos/index.ts'
import { presentScope } from '#shared/foundation/schemas/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { DeveloperEntity } from '#shared/identity/developers/index.ts'
import { type Belonging, listWorkspacesOf, type User, type Workspace } from '#shared/identity/people/index.ts'
import { iso } from '#shared/kernel/clock.ts'
import type { Scope } from '#shared/kernel/scopes.ts'
import type { Installation } from '../installations/entity.ts'
import { loadInstallationsByWorkspace } from '../installations/lookup.ts'
import { blockedBy } from '../installations/permissions.ts'
import { ConsentEntity } from './entity.ts'
import { ifOpen, loadOpenConsent } from './load.ts'
import type { ConsentRequestView } from './schemas.ts'
import { secondsUntilExpiry } from './status.ts'

interface Opener {
  user: User
  /** Workspace that the console token was issued for. */
  workspace: Workspace
}

/**
 * Returns the consent screen's data. The first person who reads the request becomes its owner if they could approve it in
 * the workspace they are in. A member who can't approve leaves it open, so that they can pass the link to an admin.
 */
export const readConsentRequest = async (
  work: Work,
  nonce: string,
  { user, workspace: current }: Opener,
): Promise<ConsentRequestView> => {
  const { consent, app } = await loadOpenConsent(work, nonce, user.id)
  const [belongings, developer] = await Promise.all([
    listWorkspacesOf(work, user.id),
    work.table.get(DeveloperEntity, { id: app.developer_id }),
  ])
  const places = belongings.map(({ workspace }) => workspace.id)
  const installations = await loadInstallationsByWorkspace(work, app.id, places)
  const workspaces = belongings.map((belonging) =>
    presentPlace(app, belonging, installations.get(belonging.workspace.id)),
  )
  const claims = consent.user_id !== undefined || workspaces.find(({ id }) => id === current.id)?.blocked_by === null
  if (claims && consent.user_id === undefined) {
    await work.commit([
      ConsentEntity.update({ nonce_hash: consent.nonce_hash }, { set: { user_id: user.id } }, ifOpen(user.id)),
    ])
  }
  return {
    app: {
      id: app.id,
      name: app.name,
      summary: app.summary,
      logo_url: app.logo_url ?? null,
      logo_path: logoPath(app),
      developer_name: developer?.company ?? developer?.name ?? '',
      verified: app.verified,
      privacy_url: app.privacy_url ?? null,
      similar_to: app.similar_to ?? [],
    },
    scopes: (consent.scopes as Scope[]).map(presentScope),
    workspaces,
    claimed: claims,
    redirect_host: new URL(consent.redirect_uri).host,
    expires_at: iso(consent.expires_at),
    expires_in: secondsUntilExpiry(work.clock, consent),
  }
}

const presentPlace = (
  app: App,
  belonging: Belonging,
  installation: Installation | undefined,
): ConsentRequestView['workspaces'][number] => {
  const { workspace, member } = belonging
  return {
    id: workspace.id,
    name: workspace.name,
    is_sandbox: workspace.is_sandbox,
    role: member.role,
    // Consenting again doesn't lift the suspension of an installation.
    blocked_by:
      blockedBy(app, belonging, installation !== undefined) ??
      (installation?.status === 'suspended' ? 'installation_suspended' : null),
    denied_scopes: workspace.denied_scopes,
    granted_scopes: installation?.scopes ?? null,
  }
}
