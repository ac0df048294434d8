import { ClaimEntity } from '../../entities/developers.ts'
import { type Admin, AdminEntity, AdminKeyEntity, AuditEntity } from '../../entities/platform.ts'
import { fail, type PlatformError } from '../../kernel/errors.ts'
import { LIMITS } from '../../kernel/limits.ts'
import { sha256 } from '../../kernel/secrets.ts'
import type { Deps, Work } from '../deps.ts'
import { giveBack, take } from '../limits/gcra.ts'
import { issueToken } from '../tokens/tokens.ts'
import { ensureLocalAdmin, LOCAL_ADMIN } from './local.ts'
import { verifyPassword } from './password.ts'
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
const adminByEmail = async ({ table }: Pick<Deps, 'table'>, email: string): Promise<Admin | undefined> => {
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
  let admin = await adminByEmail(work, email)
  if (!admin && work.settings.localAdmin && email === LOCAL_ADMIN.email) {
    await ensureLocalAdmin(work)
    admin = await adminByEmail(work, email)
  }
  const right = await verifyPassword(input.password, admin?.password_hash)
  if (!admin || !right) {
    throw fail('unauthorized', {
      message: 'The e-mail address or the password is wrong.',
      fix: 'Check both and try again.',
    })
  }
  await passed()
  const { token, expires_in } = await issueToken(work, 'admin', { adm: admin.id, sv: admin.session_version })
  const view = { token, token_type: 'Bearer' as const, expires_in, admin: presentAdmin(admin) }
  const signedIn = AuditEntity.create({
    id: work.id('audit'),
    scope: 'platform',
    action: 'admin.signed_in',
    actor: { type: 'admin', id: admin.id },
    target: { type: 'admin', id: admin.id },
    source_ip: work.sourceIp,
    details: {},
    created_at: work.clock.now(),
  })
  await work.commit([signedIn], view)
  return view
}

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
