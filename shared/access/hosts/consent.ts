import { presentScope } from '#shared/foundation/schemas/index.ts'
import type { Deps, Work } from '#shared/foundation/work/index.ts'
import {
  type Belonging,
  findBelonging,
  listWorkspacesOf,
  type Session,
  suspended,
  type User,
  type Workspace,
} from '#shared/identity/people/index.ts'
import { iso, SECOND } from '#shared/kernel/clock.ts'
import { fail, type PlatformError } from '#shared/kernel/errors.ts'
import { isId, stampOf } from '#shared/kernel/ids.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { covers, SCOPE_NAMES, SCOPES, type Scope } from '#shared/kernel/scopes.ts'
import { sha256 } from '#shared/kernel/secrets.ts'
import { auditEntry } from '#shared/staff/audit/index.ts'
import { either, missing, oneOf } from '#shared/table/expressions.ts'
import { redirectBack } from '../oauth/redirect-back.ts'
import type { DecideHostConsentInput, HostConsentRequestView } from './consent-schemas.ts'
import { type HostConsent, HostConsentEntity, type HostGrant, HostGrantEntity } from './entity.ts'
import { admitsHost } from './person.ts'
import { isLoopbackRedirect, receiverOf } from './redirects.ts'
import { newHostCode } from './tokens.ts'

/** Person who opens or decides a request. */
interface Decider {
  user: User
  session: Session
  /** Workspace that the console token was issued for. */
  workspace: Workspace
}

const noSuchLink = (): PlatformError =>
  fail('not_found', { message: 'Consent request not found.', fix: 'Start again from the assistant to get a new link.' })

/**
 * Loads a request that is open for this person: nobody owns it yet, or they do. Another person's looks like one that never
 * existed.
 * @throws `not_found`; `expired_consent_link` after 10 minutes or once decided
 */
export const loadOpenHostConsent = async (
  { table, clock }: Pick<Deps, 'table' | 'clock'>,
  nonce: string,
  userId: string,
): Promise<HostConsent> => {
  const consent = await table.get(HostConsentEntity, { nonce_hash: sha256(nonce) })
  if (!consent) throw noSuchLink()
  if (consent.expires_at <= clock.now()) throw fail('expired_consent_link')
  if (consent.user_id !== undefined && consent.user_id !== userId) throw noSuchLink()
  if (consent.decision !== undefined) throw fail('expired_consent_link')
  return consent
}

const ifOpen = (userId: string) => ({
  where: { user_id: either(missing, oneOf(userId)), decision: missing },
  otherwise: (current: HostConsent | undefined): PlatformError =>
    current?.user_id === undefined || current.user_id === userId ? fail('expired_consent_link') : noSuchLink(),
})

type Block = HostConsentRequestView['workspaces'][number]['blocked_by']

const blockOf = ({ client }: HostConsent, { workspace }: Belonging): Block => {
  if (workspace.status !== 'active') return 'workspace_suspended'
  if (workspace.hosts && !workspace.hosts.enabled) return 'hosts_disabled'
  return admitsHost(workspace, client.host) ? null : 'host_not_allowed'
}

const AGENT = '/mcp/agents/'

/** Returns the consent screen's data. The first person who could approve it in the workspace they are in owns it. */
export const readHostConsent = async (
  work: Work,
  nonce: string,
  { user, workspace: current }: Decider,
): Promise<HostConsentRequestView> => {
  const consent = await loadOpenHostConsent(work, nonce, user.id)
  const workspaces = (await listWorkspacesOf(work, user.id)).map((belonging) => ({
    id: belonging.workspace.id,
    name: belonging.workspace.name,
    is_sandbox: belonging.workspace.is_sandbox,
    role: belonging.member.role,
    blocked_by: blockOf(consent, belonging),
    denied_scopes: belonging.workspace.denied_scopes,
    granted_scopes: null,
  }))
  const claims = consent.user_id !== undefined || workspaces.find(({ id }) => id === current.id)?.blocked_by === null
  if (claims && consent.user_id === undefined) {
    await work.commit([
      HostConsentEntity.update({ nonce_hash: consent.nonce_hash }, { set: { user_id: user.id } }, ifOpen(user.id)),
    ])
  }
  const { client, kind, resource, redirect_uri, scopes, expires_at } = consent
  return {
    client: { name: client.name, host: client.host, kind },
    scopes: (scopes as Scope[]).map(presentScope),
    agent: resource.startsWith(AGENT) ? resource.slice(AGENT.length) : null,
    protocol: resource === '/a2a' ? 'a2a' : 'mcp',
    workspaces,
    claimed: claims,
    redirect_host: receiverOf(redirect_uri),
    loopback: isLoopbackRedirect(redirect_uri),
    expires_at: iso(expires_at),
    expires_in: secondsLeft(work, consent),
  }
}

const secondsLeft = ({ clock }: Pick<Deps, 'clock'>, { expires_at }: HostConsent): number =>
  Math.max(0, Math.ceil((expires_at - clock.now()) / SECOND))

/** Reports whether a link still waits, and who asks, for a page before the sign-in. It doesn't say how it was decided. */
export const readHostConsentStatus = async (deps: Pick<Deps, 'table' | 'clock'>, nonce: string) => {
  const consent = await deps.table.get(HostConsentEntity, { nonce_hash: sha256(nonce) })
  if (!consent || consent.decision !== undefined || consent.expires_at <= deps.clock.now()) {
    return { over: true, expires_at: null, expires_in: null, app: null }
  }
  return {
    over: false,
    expires_at: iso(consent.expires_at),
    expires_in: secondsLeft(deps, consent),
    app: { name: consent.client.name, developer_name: consent.client.host, verified: false },
  }
}

/**
 * Records a person's decision, once. The decision is a condition of the transaction that creates the grant and its code.
 * @throws `not_found`, `expired_consent_link`, `insufficient_scope`, `installation_suspended`; `forbidden` where hosts
 *   aren't admitted, and in the Mini App for a session that wasn't created from the messaging app's init data
 */
export const decideHostConsent = async (
  work: Work,
  decider: Decider,
  input: DecideHostConsentInput,
): Promise<{ redirect_to: string }> => {
  const { user, session } = decider
  if (input.entry === 'mini_app' && session.via !== 'init_data') {
    throw fail('forbidden', {
      message: 'A decision in the Mini App needs a session from the messaging app.',
      fix: 'Open the link in the messaging app again, or decide on the consent page in a browser.',
    })
  }
  const consent = await loadOpenHostConsent(work, input.tg, user.id)
  const { nonce_hash, redirect_uri, state } = consent
  const back = (parameters: Record<string, string>) => ({
    redirect_to: redirectBack(work.settings, redirect_uri, { ...parameters, state }, 'connect'),
  })
  const decided = (decision: 'approve' | 'deny') =>
    HostConsentEntity.update(
      { nonce_hash },
      { set: { user_id: user.id, session_id: session.id, decision } },
      ifOpen(user.id),
    )
  if (input.decision === 'deny') {
    const answer = back({ error: 'access_denied' })
    await work.commit([decided('deny')], answer)
    return answer
  }
  const { workspace, member } = await loadChosen(work, decider, consent, input.workspace_id)
  const now = work.clock.now()
  const grant: HostGrant = {
    ...stampOf(work.id('grant')),
    workspace_id: workspace.id,
    user_id: user.id,
    client: consent.client,
    resource: consent.resource,
    scopes: grantedScopes(consent, input.scopes),
    member_since: member.joined_at,
    status: 'active',
    expires_at: now + LIMITS.hostGrantLife,
  }
  const { code, write } = newHostCode(work, grant, consent)
  const answer = back({ code })
  const { id, name, host } = grant.client
  await work.commit(
    [
      decided('approve'),
      HostGrantEntity.create(grant),
      write,
      auditEntry(work, {
        scope: workspace.id,
        action: 'host.connected',
        actor: { type: 'user', id: user.id },
        target: { type: 'grant', id: grant.id },
        details: { client_id: id, name, host, resource: grant.resource, scopes: grant.scopes },
      }),
    ],
    answer,
  )
  return answer
}

const loadChosen = async (
  work: Work,
  { user, workspace }: Decider,
  consent: HostConsent,
  workspaceId: string | undefined,
): Promise<Belonging> => {
  const id = workspaceId ?? workspace.id
  const found = isId('workspace', id) ? await findBelonging(work, id, user.id) : undefined
  if (!found) throw fail('not_found', { message: 'You aren’t a member of this workspace.' })
  const blocked = blockOf(consent, found)
  if (blocked === 'workspace_suspended') throw suspended(found.workspace)
  if (blocked !== null) {
    throw fail('forbidden', {
      message: 'The owner of this workspace doesn’t allow this assistant.',
      fix: 'Choose another workspace, or ask the owner.',
    })
  }
  return found
}

/** Returns what the person grants: what isn't sensitive, unless they chose. Sensitive scopes need a choice. */
const grantedScopes = ({ scopes: asked }: HostConsent, wanted: readonly Scope[] | undefined): string[] => {
  if (!wanted) return asked.filter((scope) => !SCOPES[scope as Scope][1])
  const outside = wanted.find((scope) => !covers(asked, scope))
  if (outside === undefined) return SCOPE_NAMES.filter((scope) => wanted.includes(scope))
  throw fail('insufficient_scope', {
    message: `The assistant did not request ${outside}.`,
    fix: 'Grant only scopes from the request.',
    details: { required_scope: outside, granted_scopes: asked },
  })
}

/** Reports whether this session decided the request. Other sessions don't see the outcome. */
export const wasHostConsentDecidedBy = async (
  { table }: Pick<Deps, 'table'>,
  tg: unknown,
  sessionId: string,
): Promise<boolean> => {
  if (typeof tg !== 'string' || tg === '') return true
  const consent = await table.get(HostConsentEntity, { nonce_hash: sha256(tg) })
  return consent?.session_id === sessionId
}
