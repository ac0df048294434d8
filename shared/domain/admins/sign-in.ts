import { ClaimEntity } from '../../entities/developers.ts'
import { type Admin, AdminEntity, AdminKeyEntity } from '../../entities/platform.ts'
import { fail, type PlatformError } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { LIMITS } from '../../kernel/limits.ts'
import { sha256 } from '../../kernel/secrets.ts'
import { auditEntry, auditStaff } from '../audit/write.ts'
import type { Deps, Work } from '../deps.ts'
import { giveBack, take } from '../limits/gcra.ts'
import { issueToken } from '../tokens/tokens.ts'
import { ensureLocalAdmin, LOCAL_ADMIN } from './local.ts'
import { hashPassword, verifyPassword } from './password.ts'
import { presentAdmin } from './present.ts'
import type { SignedInView } from './schemas.ts'

/**
 * The admin whose key it is, with the key's name for the audit (decisions §2 "X-Admin-Key").
 * @returns undefined for a key that is unknown or expired, or whose admin is gone
 */
export const adminByKey = async (deps: Deps, key: string): Promise<{ admin: Admin; name: string } | undefined> => {
  const find = () => deps.table.get(AdminKeyEntity, { key_hash: sha256(key) })
  let record = await find()
  if (!record && deps.settings.localAdmin && key === LOCAL_ADMIN.key) {
    await ensureLocalAdmin(deps)
    record = await find()
  }
  if (!record || (record.expires_at ?? Number.POSITIVE_INFINITY) <= deps.clock.now()) return undefined
  const admin = await deps.table.get(AdminEntity, { id: record.admin_id })
  return admin && { admin, name: record.name }
}

/** The account of an e-mail address. Reads as often for an address that has none. */
export const findAdminByEmail = async ({ table }: Pick<Deps, 'table'>, email: string): Promise<Admin | undefined> => {
  const claim = await table.get(ClaimEntity, { kind: 'admin-email', value: email })
  return table.get(AdminEntity, { id: claim?.owner_id ?? 'nobody' })
}

/**
 * `POST /admin/auth/login`.
 * @param address what failures are counted by beside the e-mail address; undefined where the source is not known
 * @throws `unauthorized` alike for an unknown address and a wrong password; `rate_limited` after 5 failures in 15
 * minutes, for a right password too, so that nobody can guess on
 */
export const signIn = async (
  work: Work,
  input: { email: string; password: string },
  address: string | undefined,
): Promise<SignedInView> => {
  const email = input.email.trim().toLowerCase()
  const passed = await admit(work, [
    `admin-email:${sha256(email)}`,
    ...(address === undefined ? [] : [`admin-address:${address}`]),
  ])
  let admin = await findAdminByEmail(work, email)
  if (!admin && work.settings.localAdmin && email === LOCAL_ADMIN.email) {
    await ensureLocalAdmin(work)
    admin = await findAdminByEmail(work, email)
  }
  const right = await verifyPassword(input.password, admin?.password_hash)
  if (!admin || !right) {
    await noteFailure(work, email, admin)
    throw fail('unauthorized', {
      message: 'The e-mail address or the password is wrong.',
      fix: 'Check both and try again.',
    })
  }
  await passed()
  const { token, expires_in } = await issueToken(work, 'admin', { adm: admin.id, sv: admin.session_version })
  const view = { token, token_type: 'Bearer' as const, expires_in, admin: presentAdmin(admin) }
  const of = { admin, keyName: undefined }
  await work.commit([auditStaff(work, of, 'admin.signed_in', { type: 'admin', id: admin.id })], view)
  return view
}

/**
 * A failure is in the audit, too, beside what is answered, and costs the same whether there is such an account. Of an address
 * without one, where somebody may have typed anything, only a hash is kept.
 */
const noteFailure = async (work: Work, email: string, admin: Admin | undefined): Promise<void> => {
  const who = admin ? { type: 'admin', id: admin.id } : { type: 'system', id: 'sign-in' }
  const entry = auditEntry(work, {
    id: newId('audit', work.clock.now()),
    scope: 'platform',
    action: 'admin.sign_in_failed',
    actor: who,
    target: who,
    details: { email_sha256: sha256(email) },
  })
  await work.table.transact([entry])
}

/**
 * `POST /admin/me/password`: every session of the account ends; the answer has a new one. Guesses count like failed sign-ins.
 * @throws `forbidden` for a wrong current password; `rate_limited`
 */
export const changePassword = async (
  work: Work,
  actor: { admin: Admin; keyName: string | undefined },
  input: { current_password: string; new_password: string },
): Promise<SignedInView> => {
  const { admin } = actor
  const passed = await admit(work, [`admin-email:${sha256(admin.email)}`])
  if (!(await verifyPassword(input.current_password, admin.password_hash))) {
    await noteFailure(work, admin.email, admin)
    throw fail('forbidden', { message: 'The current password is wrong.', fix: 'Check it and try again.' })
  }
  await passed()
  const password_hash = await hashPassword(input.new_password)
  const { id, session_version } = admin
  const { token, expires_in } = await issueToken(work, 'admin', { adm: id, sv: session_version + 1 })
  const view = { token, token_type: 'Bearer' as const, expires_in, admin: presentAdmin(admin) }
  await work.commit(
    [
      AdminEntity.update(
        { id },
        { set: { password_hash }, add: { session_version: 1 } },
        { where: { session_version, password_hash: admin.password_hash }, otherwise: changedMeanwhile },
      ),
      auditStaff(work, actor, 'admin.password_changed', { type: 'admin', id }),
    ],
    view,
  )
  return view
}

const changedMeanwhile = () =>
  fail('conflict', { message: 'The account was changed meanwhile.', fix: 'Sign in again.' })

/**
 * Counts an attempt before its password is looked at, so that parallel guesses are counted too.
 * @returns gives the attempt back: only failures count
 */
const admit = async (work: Work, buckets: string[]): Promise<() => Promise<void>> => {
  const rate = LIMITS.adminSignInFailures
  const taken = await Promise.all(buckets.map((name) => take(work, name, rate)))
  const back = async (): Promise<void> => {
    await Promise.all(buckets.flatMap((name, i) => (taken[i]?.allowed ? [giveBack(work, name, rate)] : [])))
  }
  const refused = taken.filter(({ allowed }) => !allowed)
  if (refused.length === 0) return back
  await back()
  throw tooMany(Math.max(...refused.map(({ retryAfter }) => retryAfter)))
}

const tooMany = (seconds: number): PlatformError =>
  fail('rate_limited', {
    message: 'Too many failed sign-ins.',
    fix: `Wait ${seconds} s (Retry-After), then try again.`,
    details: { limit_scope: 'sign_in' },
    headers: { 'retry-after': String(seconds) },
  })
