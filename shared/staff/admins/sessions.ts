import { type Claims, issueToken, verifyToken } from '#shared/foundation/tokens/index.ts'
import type { Deps, Work } from '#shared/foundation/work/index.ts'
import { iso } from '#shared/kernel/clock.ts'
import { fail } from '#shared/kernel/errors.ts'
import { stampOf } from '#shared/kernel/ids.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import type { Write } from '#shared/table/entity.ts'
import { auditAdmin } from '../audit/write.ts'
import type { Actor, AdminWork, Moderator } from './actor.ts'
import { type Admin, AdminEntity, type AdminSession, AdminSessionEntity } from './entity.ts'
import { loadAdmin } from './load.ts'
import { presentAdmin } from './present.ts'
import type { AdminSessionView, NextStep, SignedInView } from './schemas.ts'

/** Caller who uses a session, not a key. */
export interface SignedInAdmin extends Moderator {
  session: AdminSession
}

/** Browser that signs in. */
export interface SignInPlace {
  sourceIp: string | undefined
  userAgent: string | undefined
}

/** Most sessions of one account that are listed. */
const MAX_LISTED = 100

const MAX_USER_AGENT = 300

const hasPasskey = ({ passkeys = 0 }: Pick<Admin, 'passkeys'>): boolean => passkeys > 0

/** Returns true if the account must have a passkey. */
export const mustHavePasskey = ({ settings }: Pick<Deps, 'settings'>, { role }: Pick<Admin, 'role'>): boolean =>
  settings.staffSecondFactor === 'everyone' || (settings.staffSecondFactor === 'superadmins' && role === 'superadmin')

/** Returns what the admin has to do before the session can be used, or undefined. */
export const nextStepOf = (
  deps: Pick<Deps, 'settings'>,
  admin: Admin,
  { confirmed_with }: AdminSession,
): NextStep | undefined => {
  if (hasPasskey(admin)) return confirmed_with === 'passkey' ? undefined : 'confirm'
  return mustHavePasskey(deps, admin) ? 'add_passkey' : undefined
}

/** Returns what the account confirms with, and until when the session's last confirmation counts. */
export const confirmationOf = (admin: Admin, { confirmed_at, confirmed_with }: AdminSession) => {
  const method = hasPasskey(admin) ? ('passkey' as const) : ('password' as const)
  // Once there is a passkey, an earlier password no longer counts.
  const until = method === 'passkey' && confirmed_with !== 'passkey' ? 0 : confirmed_at + LIMITS.confirmationLife
  return { method, until }
}

/**
 * Creates a session with its token and writes. A sign-in that still needs the passkey expires within minutes.
 * @param by confirmation to take over from another session; by default, the password of this sign-in
 */
export const newSession = async (
  work: Work,
  admin: Admin,
  place: SignInPlace,
  by?: Pick<AdminSession, 'confirmed_at' | 'confirmed_with'>,
): Promise<{ view: SignedInView; writes: Write[] }> => {
  const now = work.clock.now()
  const { confirmed_at, confirmed_with } = by ?? { confirmed_at: now, confirmed_with: 'password' as const }
  const life = hasPasskey(admin) && confirmed_with !== 'passkey' ? LIMITS.adminSignInLife : LIMITS.adminTokenLife
  const session: AdminSession = {
    ...stampOf(work.id('adminSession')),
    admin_id: admin.id,
    version: admin.session_version,
    confirmed_at,
    confirmed_with,
    source_ip: place.sourceIp,
    user_agent: place.userAgent?.slice(0, MAX_USER_AGENT),
    expires_at: now + life,
  }
  const { token, expires_in } = await issueToken(work, 'admin', { adm: admin.id, ses: session.id })
  return {
    view: {
      token,
      token_type: 'Bearer',
      expires_in,
      admin: presentAdmin(admin),
      next_step: nextStepOf(work, admin, session) ?? null,
    },
    writes: [AdminSessionEntity.create(session)],
  }
}

/** Returns the write that records a confirmation, which also completes a sign-in. */
export const confirmedWrite = (
  { clock }: Pick<Deps, 'clock'>,
  session: AdminSession,
  confirmed_with: AdminSession['confirmed_with'],
): Write =>
  AdminSessionEntity.update(
    session,
    {
      set: {
        confirmed_at: clock.now(),
        confirmed_with,
        expires_at: session.created_at + LIMITS.adminTokenLife,
      },
    },
    { otherwise: ended },
  )

/**
 * Loads the session of an admin token with its account in one round trip. Returns undefined if the session ended or
 * expired, or the account was deleted or changed in a way that ends its sessions.
 */
export const loadAdminSession = async (
  { table, clock }: Pick<Deps, 'table' | 'clock'>,
  { adm, ses }: Claims['admin'],
): Promise<{ admin: Admin; session: AdminSession } | undefined> => {
  const [admin, session] = await table.getAll([
    AdminEntity.ref({ id: adm }),
    AdminSessionEntity.ref({ admin_id: adm, id: ses }),
  ])
  const isLive = admin && session && session.version === admin.session_version && session.expires_at > clock.now()
  return isLive ? { admin, session } : undefined
}

/** Returns true if a stored sign-in may be replayed under its Idempotency-Key, because its token still works. */
export const isAdminSessionLive = async (
  deps: Pick<Deps, 'table' | 'clock' | 'settings' | 'keys'>,
  kept: { body: string },
): Promise<boolean> => {
  const { token } = JSON.parse(kept.body) as { token?: string }
  if (token === undefined) return true
  const verified = await verifyToken(deps, token, ['admin'])
  return verified?.kind === 'admin' && (await loadAdminSession(deps, verified.claims)) !== undefined
}

/** Requires a session. A key can't be signed out, and nobody confirms anything with it. @throws `forbidden` */
export const requireSession = (caller: Moderator & { session: AdminSession | undefined }): SignedInAdmin => {
  const { session } = caller
  if (!session) {
    throw fail('forbidden', {
      message: 'This call needs a session, and it was made with an admin key.',
      fix: 'Sign in with POST /admin/auth/login, and send its token.',
    })
  }
  return { ...caller, session }
}

/** Lists the sessions of an account that are signed in, newest first. @throws `not_found` for an unknown account */
export const listAdminSessions = async (
  deps: Pick<Deps, 'table' | 'clock'>,
  adminId: string,
): Promise<AdminSession[]> => {
  const [{ session_version }, { items }] = await Promise.all([
    loadAdmin(deps, adminId),
    deps.table.query(AdminSessionEntity, { admin_id: adminId }, { limit: MAX_LISTED }),
  ])
  return items.filter(({ version, expires_at }) => version === session_version && expires_at > deps.clock.now())
}

/** Returns a session as its owner and superadmins see it. @param current the caller's own session */
export const presentAdminSession = (session: AdminSession, current: AdminSession | undefined): AdminSessionView => ({
  id: session.id,
  current: session.id === current?.id,
  source_ip: session.source_ip ?? null,
  user_agent: session.user_agent ?? null,
  confirmed_with: session.confirmed_with,
  created_at: iso(session.created_at),
  expires_at: iso(session.expires_at),
})

/** Returns the session of a call, as `GET /admin/me` shows it. */
export const presentOwnSession = (admin: Admin, session: AdminSession, nextStep: NextStep | undefined) => {
  const { method, until } = confirmationOf(admin, session)
  return { id: session.id, next_step: nextStep ?? null, confirm_with: method, confirmed_until: iso(until) }
}

/** Ends a session of the account. Its token stops working with the next request. @throws `not_found` */
export const endAdminSession = async (work: AdminWork, actor: Actor, adminId: string, id: string): Promise<void> => {
  await work.commit([
    AdminSessionEntity.delete({ admin_id: adminId, id }, { where: { admin_id: adminId }, otherwise: noSession }),
    auditAdmin(work, actor, 'admin.signed_out', { type: 'admin', id: adminId }, { session_id: id }),
  ])
}

/** Ends every session of the caller except the one that asks. */
export const endOtherSessions = async (work: AdminWork, caller: SignedInAdmin): Promise<void> => {
  const { admin, session } = caller
  const { id, session_version } = admin
  await work.commit([
    AdminEntity.update({ id }, { add: { session_version: 1 } }, { where: { session_version }, otherwise: changed }),
    AdminSessionEntity.update(session, { set: { version: session_version + 1 } }, { otherwise: ended }),
    auditAdmin(work, caller, 'admin.signed_out', { type: 'admin', id }, { others: true }),
  ])
}

/** Ends every session of an account (`DELETE /admin/admins/{id}/sessions`). @throws `not_found` */
export const endAllSessions = async (work: AdminWork, actor: Actor, adminId: string): Promise<void> => {
  await loadAdmin(work, adminId)
  await work.commit([
    AdminEntity.update({ id: adminId }, { add: { session_version: 1 } }),
    auditAdmin(work, actor, 'admin.signed_out', { type: 'admin', id: adminId }, { all: true }),
  ])
}

const ended = () => fail('unauthorized', { message: 'The session has ended.', fix: 'Sign in again.' })

const noSession = () => fail('not_found', { message: 'The account has no session with this id.' })

const changed = () =>
  fail('conflict', { message: 'The account was changed by another request.', fix: 'Send the request again.' })
