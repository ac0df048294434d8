import type { App } from '../../entities/apps.ts'
import { DeveloperEntity } from '../../entities/developers.ts'
import type { Installation } from '../../entities/installations.ts'
import { ConsentEntity } from '../../entities/oauth.ts'
import { iso } from '../../kernel/clock.ts'
import type { Scope } from '../../kernel/scopes.ts'
import type { Work } from '../deps.ts'
import { presentScope } from '../oauth/scopes.ts'
import { type Belonging, workspacesOf } from '../people/memberships.ts'
import { installedIn } from './installed.ts'
import { openConsent, whileOpen } from './load.ts'
import { blockedBy } from './permitted.ts'
import type { ConsentRequestView } from './schemas.ts'
import { secondsUntil } from './status.ts'

/** What the person is asked. The first one to ask becomes the request's owner. */
export const readConsentRequest = async (work: Work, nonce: string, userId: string): Promise<ConsentRequestView> => {
  const { consent, app } = await openConsent(work, nonce, userId)
  if (consent.user_id === undefined) {
    await work.table.transact([
      ConsentEntity.update({ nonce_hash: consent.nonce_hash }, { set: { user_id: userId } }, whileOpen(userId)),
    ])
  }
  const [belongings, developer] = await Promise.all([
    workspacesOf(work, userId),
    work.table.get(DeveloperEntity, { id: app.developer_id }),
  ])
  const places = belongings.map(({ workspace }) => workspace.id)
  const installations = await installedIn(work, app.id, places)
  return {
    app: {
      id: app.id,
      name: app.name,
      summary: app.summary,
      logo_url: app.logo_url ?? null,
      developer_name: developer?.company ?? developer?.name ?? '',
      verified: app.verified,
      privacy_url: app.privacy_url ?? null,
    },
    scopes: (consent.scopes as Scope[]).map(presentScope),
    workspaces: belongings.map((one) => presentPlace(app, one, installations.get(one.workspace.id))),
    redirect_host: new URL(consent.redirect_uri).host,
    expires_at: iso(consent.expires_at),
    expires_in: secondsUntil(work.clock, consent),
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
    // Consenting anew does not lift the suspension of an installation.
    blocked_by:
      blockedBy(app, belonging, installation !== undefined) ??
      (installation?.status === 'suspended' ? 'installation_suspended' : null),
    denied_scopes: workspace.denied_scopes,
    granted_scopes: installation?.scopes ?? null,
  }
}
