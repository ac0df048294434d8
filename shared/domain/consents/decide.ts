import type { App } from '../../entities/apps.ts'
import { type Grant, GrantEntity } from '../../entities/installations.ts'
import { AuthorizationCodeEntity, type Consent, ConsentEntity } from '../../entities/oauth.ts'
import type { Session, User, Workspace } from '../../entities/people.ts'
import { fail } from '../../kernel/errors.ts'
import { isId } from '../../kernel/ids.ts'
import { LIMITS } from '../../kernel/limits.ts'
import { covers, SCOPE_NAMES, type Scope } from '../../kernel/scopes.ts'
import { newSecret, sha256 } from '../../kernel/secrets.ts'
import type { Write } from '../../table/entity.ts'
import { auditEntry } from '../audit/write.ts'
import type { Deps, Work } from '../deps.ts'
import { type InstallPlan, withInstallation } from '../installations/install.ts'
import { installableVersion } from '../installations/version.ts'
import { redirectBack } from '../oauth/redirect-back.ts'
import { type Belonging, belongingTo } from '../people/memberships.ts'
import { openConsent, whileOpen } from './load.ts'
import { refuseBanned, refuseBlocked } from './permitted.ts'
import type { DecideConsentInput } from './schemas.ts'

/** Who decides. */
export interface Decider {
  user: User
  session: Session
  /** The one that the console token was issued for; the session may have gone on in another (another tab). */
  workspace: Workspace
}

export interface Decided {
  /** Where the browser goes: back to the client, with the code or with the person's "no". */
  redirect_to: string
}

/**
 * A person's answer to a consent request, once: it is a condition of the transaction that installs the app and makes
 * the grant and its code.
 * @throws `not_found`, `expired_consent_link`, `app_suspended`, `app_not_approved`, `admin_required`,
 * `insufficient_scope`, `invalid_redirect_uri`, `scope_denied_by_admin`, `installation_suspended`, `no_manifest`;
 * `forbidden` in the Mini App for a session that the messaging app did not vouch for
 */
export const decideConsent = async (work: Work, decider: Decider, input: DecideConsentInput): Promise<Decided> => {
  const { user } = decider
  refuseEntry(decider, input)
  const { consent, app } = await openConsent(work, input.tg, user.id)
  refuseTakenBack(app, consent)
  if (input.decision === 'deny') return deny(work, decider, consent)

  refuseWithdrawn(app, consent)
  const belonging = await chosen(work, decider, input.workspace_id)
  refuseBlocked(app, belonging)
  const scopes = granted(consent, input.scopes)
  refuseBanned(belonging, scopes)
  const version = await installableVersion(work, app, belonging.workspace)
  const grantId = work.id('grant')
  const code = newSecret('code_')
  const answer = {
    redirect_to: redirectBack(work.settings, consent.redirect_uri, { code, state: consent.state }),
  }
  const { workspace } = belonging
  const owner = { id: user.id, name: user.name }
  await withInstallation(work, { app, version, workspace, scopes, owner }, (plan) =>
    work.commit(
      [
        decided(consent, decider, 'approve'),
        ...plan.writes,
        ...grantWrites(work, { consent, app, plan, owner, scopes, grantId, code }),
      ],
      answer,
    ),
  )
  return answer
}

/**
 * The Mini App is framed by the messenger's own page. A session made elsewhere decides nothing there, so that nobody can
 * be led to press a button for a person whom the messenger does not know.
 */
const refuseEntry = ({ session }: Decider, { entry }: DecideConsentInput): void => {
  if (entry !== 'mini_app' || session.via === 'init_data') return
  throw fail('forbidden', {
    message: 'Deciding here takes a session that the messaging app vouches for.',
    fix: 'Open the link in the messaging app again, or decide on the page in a browser.',
  })
}

/** The developer may have changed the app since the request: an address taken back gets no answer at all. */
const refuseTakenBack = (app: App, { redirect_uri }: Consent): void => {
  if (app.redirect_uris.includes(redirect_uri)) return
  throw fail('invalid_redirect_uri', {
    message: 'The app no longer uses the address that it asked to come back to.',
    fix: 'Start the installation again from the app.',
  })
}

/** A scope that the app no longer requests is granted no more. */
const refuseWithdrawn = (app: App, { scopes }: Consent): void => {
  const scope = scopes.find((one) => !covers(app.requested_scopes, one as Scope))
  if (scope === undefined) return
  throw fail('insufficient_scope', {
    message: `The app no longer requests ${scope}.`,
    fix: 'Start the installation again from the app.',
    details: { required_scope: scope, granted_scopes: app.requested_scopes },
  })
}

const deny = async (work: Work, decider: Decider, consent: Consent): Promise<Decided> => {
  const answer = {
    redirect_to: redirectBack(work.settings, consent.redirect_uri, { error: 'access_denied', state: consent.state }),
  }
  await work.commit([decided(consent, decider, 'deny')], answer)
  return answer
}

/** The one conditional write by which a request is decided. */
const decided = ({ nonce_hash }: Consent, { user, session }: Decider, decision: 'approve' | 'deny'): Write =>
  ConsentEntity.update(
    { nonce_hash },
    { set: { user_id: user.id, session_id: session.id, decision } },
    whileOpen(user.id),
  )

const chosen = async (
  work: Work,
  { user, workspace }: Decider,
  workspaceId: string | undefined,
): Promise<Belonging> => {
  const id = workspaceId ?? workspace.id
  const found = isId('workspace', id) ? await belongingTo(work, id, user.id) : undefined
  if (!found) throw fail('not_found', { message: 'You are in no such workspace.' })
  return found
}

/** What the person grants of what was asked for; all of it unless they say. */
const granted = ({ scopes: asked }: Consent, wanted: readonly Scope[] | undefined): string[] => {
  if (!wanted) return asked
  const outside = wanted.find((scope) => !covers(asked, scope))
  if (outside !== undefined) {
    throw fail('insufficient_scope', {
      message: `The app did not ask for ${outside}.`,
      fix: 'Grant only scopes of the request.',
      details: { required_scope: outside, granted_scopes: asked },
    })
  }
  return SCOPE_NAMES.filter((scope) => wanted.includes(scope))
}

interface GrantParts {
  consent: Consent
  app: App
  plan: InstallPlan
  owner: { id: string; name: string }
  scopes: string[]
  grantId: string
  code: string
}

/** The grant, its code and the audit entry. */
const grantWrites = (work: Work, parts: GrantParts): Write[] => {
  const { consent, app, plan, owner, scopes, grantId, code } = parts
  const { id: installation_id, workspace_id } = plan.installation
  const now = work.clock.now()
  const grant: Grant = {
    id: grantId,
    installation_id,
    workspace_id,
    app_id: app.id,
    scopes,
    status: 'active',
    approved_by: owner,
    kind: 'oauth',
    created_at: now,
  }
  return [
    GrantEntity.create(grant),
    AuthorizationCodeEntity.create({
      code_hash: sha256(code),
      app_id: app.id,
      workspace_id,
      installation_id,
      grant_id: grantId,
      redirect_uri: consent.redirect_uri,
      code_challenge: consent.code_challenge,
      expires_at: now + LIMITS.codeLife,
    }),
    auditEntry(work, {
      scope: workspace_id,
      action: 'consent.approved',
      actor: { type: 'user', id: owner.id },
      target: { type: 'grant', id: grantId },
      details: { app_id: app.id, installation_id, scopes },
    }),
  ]
}

/** Did this session decide the request? What it was told is told to nobody else, also not to another session of the person. */
export const decidedBy = async ({ table }: Pick<Deps, 'table'>, tg: unknown, sessionId: string): Promise<boolean> => {
  if (typeof tg !== 'string' || tg === '') return true
  const consent = await table.get(ConsentEntity, { nonce_hash: sha256(tg) })
  return consent?.session_id === sessionId
}
