import { ConsentEntity } from '../../entities/oauth.ts'
import { iso } from '../../kernel/clock.ts'
import type { Scope } from '../../kernel/scopes.ts'
import type { Work } from '../deps.ts'
import { presentScope } from '../oauth/scopes.ts'
import { workspacesOf } from '../people/memberships.ts'
import { openConsent, whileOpen } from './load.ts'
import { blockedBy } from './permitted.ts'
import type { ConsentRequestView } from './schemas.ts'

/** What the person is asked. The first one to ask becomes the request's owner. */
export const readConsentRequest = async (work: Work, nonce: string, userId: string): Promise<ConsentRequestView> => {
  const { consent, app } = await openConsent(work, nonce, userId)
  if (consent.user_id === undefined) {
    await work.table.transact([
      ConsentEntity.update({ nonce_hash: consent.nonce_hash }, { set: { user_id: userId } }, whileOpen(userId)),
    ])
  }
  const belongings = await workspacesOf(work, userId)
  return {
    app: {
      id: app.id,
      name: app.name,
      summary: app.summary,
      logo_url: app.logo_url ?? null,
      verified: app.verified,
      privacy_url: app.privacy_url ?? null,
    },
    scopes: (consent.scopes as Scope[]).map(presentScope),
    workspaces: belongings.map((belonging) => ({
      id: belonging.workspace.id,
      name: belonging.workspace.name,
      is_sandbox: belonging.workspace.is_sandbox,
      role: belonging.member.role,
      blocked_by: blockedBy(app, belonging) ?? null,
      denied_scopes: belonging.workspace.denied_scopes,
    })),
    redirect_host: new URL(consent.redirect_uri).host,
    expires_at: iso(consent.expires_at),
  }
}
