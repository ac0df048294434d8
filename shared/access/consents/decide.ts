import type { App } from '#shared/catalogue/apps/index.ts'
import type { Deps, Work } from '#shared/foundation/work/index.ts'
import {
  type Belonging,
  findBelonging,
  type Session,
  type User,
  type Workspace,
} from '#shared/identity/people/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { isId, stampOf } from '#shared/kernel/ids.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { covers, SCOPE_NAMES, type Scope } from '#shared/kernel/scopes.ts'
import { newSecretOf, sha256 } from '#shared/kernel/secrets.ts'
import { auditEntry } from '#shared/staff/audit/index.ts'
import type { Write } from '#shared/table/entity.ts'
import { AuthorizationCodeEntity, type Grant, GrantEntity } from '../grants/entity.ts'
import { type InstallPlan, withInstallation } from '../installations/install.ts'
import { refuseBlocked, refuseBlockedScopes } from '../installations/permissions.ts'
import { loadInstallableVersion } from '../installations/version.ts'
import { redirectBack } from '../oauth/redirect-back.ts'
import { type Consent, ConsentEntity } from './entity.ts'
import { ifOpen, loadOpenConsent } from './load.ts'
import type { DecideConsentInput } from './schemas.ts'

/** Person who decides on a consent request. */
export interface Decider {
  user: User
  session: Session
  /** Workspace that the console token was issued for. The session may have switched to another one in another tab. */
  workspace: Workspace
}

export interface Decided {
  /** Address to send the browser to: the client's, with the code or with the person's refusal. */
  redirect_to: string
}

/**
 * Records a person's decision on a consent request, once. The decision is a condition of the transaction that installs
 * the app and creates the grant and its code.
 * @throws `not_found`, `expired_consent_link`, `app_suspended`, `app_not_approved`, `admin_required`,
 * `insufficient_scope`, `invalid_redirect_uri`, `scope_denied_by_admin`, `installation_suspended`, `no_manifest`;
 * `forbidden` in the Mini App for a session that wasn't created from the messaging app's init data
 */
export const decideConsent = async (work: Work, decider: Decider, input: DecideConsentInput): Promise<Decided> => {
  const { user } = decider
  refuseEntry(decider, input)
  const { consent, app } = await loadOpenConsent(work, input.tg, user.id)
  refuseTakenBack(app, consent)
  if (input.decision === 'deny') return deny(work, decider, consent)

  refuseWithdrawn(app, consent)
  const belonging = await loadChosenWorkspace(work, decider, input.workspace_id)
  refuseBlocked(app, belonging)
  const scopes = grantedScopes(consent, input.scopes)
  refuseBlockedScopes(belonging, scopes)
  const version = await loadInstallableVersion(work, app, belonging.workspace)
  const grantId = work.id('grant')
  const code = newSecretOf('code', belonging.workspace.id)
  const answer = {
    redirect_to: redirectBack(work.settings, consent.redirect_uri, { code, state: consent.state }, consent.issuer),
  }
  const { workspace } = belonging
  const owner = { id: user.id, name: user.name }
  await withInstallation(work, { app, version, workspace, scopes, grantId, owner }, (plan) =>
    work.commit(
      [
        decisionWrite(consent, decider, 'approve'),
        ...plan.writes,
        ...grantWrites(work, { consent, app, plan, owner, scopes, grantId, code }),
      ],
      answer,
    ),
  )
  return answer
}

/**
 * Refuses decisions in the Mini App with a session created elsewhere. The messenger's page frames the Mini App, so other
 * sessions could be led to approve by clickjacking.
 */
const refuseEntry = ({ session }: Decider, { entry }: DecideConsentInput): void => {
  if (entry !== 'mini_app' || session.via === 'init_data') return
  throw fail('forbidden', {
    message: 'A decision in the Mini App needs a session from the messaging app.',
    fix: 'Open the link in the messaging app again, or decide on the consent page in a browser.',
  })
}

/** Refuses a redirect address that the developer removed from the app since the request. It gets no response at all. */
const refuseTakenBack = (app: App, { redirect_uri }: Consent): void => {
  if (app.redirect_uris.includes(redirect_uri)) return
  throw fail('invalid_redirect_uri', {
    message: 'The app no longer uses this redirect address.',
    fix: 'Start the installation again from the app.',
  })
}

/** Refuses scopes that the app no longer requests. */
const refuseWithdrawn = (app: App, { scopes }: Consent): void => {
  const scope = scopes.find((name) => !covers(app.requested_scopes, name as Scope))
  if (scope === undefined) return
  throw fail('insufficient_scope', {
    message: `The app no longer requests ${scope}.`,
    fix: 'Start the installation again from the app.',
    details: { required_scope: scope, granted_scopes: app.requested_scopes },
  })
}

const deny = async (work: Work, decider: Decider, consent: Consent): Promise<Decided> => {
  const answer = {
    redirect_to: redirectBack(
      work.settings,
      consent.redirect_uri,
      { error: 'access_denied', state: consent.state },
      consent.issuer,
    ),
  }
  await work.commit([decisionWrite(consent, decider, 'deny')], answer)
  return answer
}

/** Conditional write that decides the request. */
const decisionWrite = ({ nonce_hash }: Consent, { user, session }: Decider, decision: 'approve' | 'deny'): Write =>
  ConsentEntity.update({ nonce_hash }, { set: { user_id: user.id, session_id: session.id, decision } }, ifOpen(user.id))

const loadChosenWorkspace = async (
  work: Work,
  { user, workspace }: Decider,
  workspaceId: string | undefined,
): Promise<Belonging> => {
  const id = workspaceId ?? workspace.id
  const found = isId('workspace', id) ? await findBelonging(work, id, user.id) : undefined
  if (!found) throw fail('not_found', { message: 'You aren’t a member of this workspace.' })
  return found
}

/** Returns the scopes that the person grants: all that were requested, unless they chose fewer. */
const grantedScopes = ({ scopes: asked }: Consent, wanted: readonly Scope[] | undefined): string[] => {
  if (!wanted) return asked
  const outside = wanted.find((scope) => !covers(asked, scope))
  if (outside !== undefined) {
    throw fail('insufficient_scope', {
      message: `The app did not request ${outside}.`,
      fix: 'Grant only scopes from the request.',
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

/** Writes the grant, its code and the audit entry. */
const grantWrites = (work: Work, parts: GrantParts): Write[] => {
  const { consent, app, plan, owner, scopes, grantId, code } = parts
  const { id: installation_id, workspace_id } = plan.installation
  const now = work.clock.now()
  const grant: Grant = {
    ...stampOf(grantId),
    installation_id,
    workspace_id,
    app_id: app.id,
    scopes,
    status: 'active',
    approved_by: owner,
    kind: 'oauth',
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
      ...(consent.issuer && { issuer: consent.issuer }),
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

/** Reports whether this session decided the request. Other sessions don't see the outcome, not even the same person's. */
export const wasDecidedBy = async (
  { table }: Pick<Deps, 'table'>,
  tg: unknown,
  sessionId: string,
): Promise<boolean> => {
  if (typeof tg !== 'string' || tg === '') return true
  const consent = await table.get(ConsentEntity, { nonce_hash: sha256(tg) })
  return consent?.session_id === sessionId
}
