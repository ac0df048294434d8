import { ClaimEntity } from '#shared/foundation/claims/index.ts'
import type { Deps, Work } from '#shared/foundation/work/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { sha256 } from '#shared/kernel/secrets.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import { auditAdmin } from '../audit/write.ts'
import type { Moderator } from './actor.ts'
import { admitAttempt, noteFailure } from './attempts.ts'
import { type Admin, AdminEntity, AdminKeyEntity, type AdminSession } from './entity.ts'
import { endKeysWrites } from './keys.ts'
import { ensureLocalAdmin, LOCAL_ADMIN } from './local.ts'
import { hashPassword, verifyPassword } from './password.ts'
import type { SignedInView } from './schemas.ts'
import { newSession, type SignInPlace } from './sessions.ts'

/**
 * Finds the admin of a key, with the key's name for the audit log (contract/admin.md#signing-in).
 * @returns undefined if the key is unknown or expired, or its admin was deleted
 */
export const findAdminByKey = async (deps: Deps, key: string): Promise<{ admin: Admin; name: string } | undefined> => {
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

/** Finds the account of an e-mail address. Makes the same number of reads for an unknown address. */
export const findAdminByEmail = async ({ table }: Pick<Deps, 'table'>, email: string): Promise<Admin | undefined> => {
  const claim = await table.get(ClaimEntity, { kind: 'admin-email', value: email })
  return table.get(AdminEntity, { id: claim?.owner_id ?? 'nobody' })
}

/**
 * Signs an admin in (`POST /admin/auth/login`). If the account has a passkey, the session can be used only after it was
 * presented.
 * @param address source that failures are counted by, undefined if unknown
 * @throws `unauthorized` for both an unknown address and a wrong password. `rate_limited` after 5 failures in 15 minutes
 * from one address, even for a correct password, so that guessing can't continue.
 */
export const signIn = async (
  work: Work,
  input: { email: string; password: string },
  address: string | undefined,
  place: SignInPlace,
): Promise<SignedInView> => {
  const email = input.email.trim().toLowerCase()
  const refund = await admitAttempt(work, [addressBucket(address)])
  let admin = await findAdminByEmail(work, email)
  if (!admin && work.settings.localAdmin && email === LOCAL_ADMIN.email) {
    await ensureLocalAdmin(work)
    admin = await findAdminByEmail(work, email)
  }
  const isCorrect = await verifyPassword(input.password, admin?.password_hash)
  if (!admin || !isCorrect) {
    await noteFailure(work, admin, email)
    throw fail('unauthorized', {
      message: 'The e-mail address or the password is wrong.',
      fix: 'Check both and try again.',
    })
  }
  await refund()
  const { view, writes } = await newSession(work, admin, place)
  const actor = { admin, keyName: undefined }
  // A sign-in that still needs the passkey is audited as one when it is complete.
  const action = view.next_step === 'confirm' ? 'admin.password_accepted' : 'admin.signed_in'
  await work.commit([...writes, auditAdmin(work, actor, action, { type: 'admin', id: admin.id })], view)
  return view
}

const addressBucket = (address: string | undefined): string => `admin-address:${address ?? 'unknown'}`

/**
 * Changes the admin's own password (`POST /admin/me/password`). Ends every session of the account and, unless told
 * otherwise, its keys. Returns a new session. Wrong passwords count as failed sign-ins.
 * @throws `forbidden` for a wrong current password, `rate_limited`
 */
export const changePassword = async (
  work: Work,
  caller: Moderator & { session: AdminSession | undefined },
  input: { current_password: string; new_password: string; keep_keys: boolean },
  address: string | undefined,
  place: SignInPlace,
): Promise<SignedInView> => {
  const { admin, session, keyName } = caller
  const by = session?.id ?? `${admin.id}/${keyName}`
  const refund = await admitAttempt(work, [addressBucket(address), `admin-session:${by}`])
  if (!(await verifyPassword(input.current_password, admin.password_hash))) {
    await noteFailure(work, admin)
    throw fail('forbidden', { message: 'The current password is wrong.', fix: 'Check the password and try again.' })
  }
  await refund()
  const password_hash = await hashPassword(input.new_password)
  const { id, session_version } = admin
  const changed = { ...admin, password_hash, session_version: session_version + 1 }
  const { view, writes } = await newSession(
    work,
    changed,
    place,
    // The password replaces no passkey: a confirmation with it keeps its time.
    session?.confirmed_with === 'passkey' ? session : undefined,
  )
  await retryOnConflict(async () => {
    const ended = input.keep_keys ? { ids: [], writes: [] } : await endKeysWrites(work, id)
    await work.commit(
      [
        AdminEntity.update(
          { id },
          { set: { password_hash }, add: { session_version: 1 } },
          { where: { session_version, password_hash: admin.password_hash }, otherwise: accountChanged },
        ),
        ...writes,
        ...ended.writes,
        auditAdmin(work, caller, 'admin.password_changed', { type: 'admin', id }, { keys_ended: ended.ids }),
      ],
      view,
    )
  })
  return view
}

const accountChanged = () =>
  fail('conflict', { message: 'The account was changed by another request.', fix: 'Sign in again.' })
