import {
  type AddPasskeyInput,
  beginAddingPasskey,
  beginPresentingPasskey,
  leavesTimeForCeremony,
  listPasskeys,
  noPasskey,
  PASSKEY_REFUSALS,
  type PasskeyOptionsView,
  type PasskeyView,
  type PresentPasskeyInput,
  presentPasskey,
  removePasskeyWrite,
  tooManyPasskeys,
  verifyAddedPasskey,
  verifyPresentedPasskey,
} from '#shared/foundation/passkeys/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { iso } from '#shared/kernel/clock.ts'
import { fail } from '#shared/kernel/errors.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { either, gte, lt, missing } from '#shared/table/expressions.ts'
import { auditAdmin } from '../audit/write.ts'
import { type Actor, type AdminWork, actorId, type Moderator } from './actor.ts'
import { admitAttempt, noteFailure } from './attempts.ts'
import { AdminEntity, type AdminSession } from './entity.ts'
import { loadAdmin } from './load.ts'
import { verifyPassword } from './password.ts'
import type { ConfirmedView } from './schemas.ts'
import { confirmationOf, confirmedWrite, mustHavePasskey, requireSession, type SignedInAdmin } from './sessions.ts'

/**
 * Starts adding a passkey (`POST /admin/me/passkeys/options`).
 * @throws `confirmation_required` if the confirmation will be older than 10 minutes when the ceremony ends; `conflict` for too
 *   many passkeys
 */
export const beginAdminPasskey = async (work: Work, { admin, session }: SignedInAdmin): Promise<PasskeyOptionsView> => {
  const { method, until } = confirmationOf(admin, session)
  if (!leavesTimeForCeremony(work, until)) {
    throw fail('confirmation_required', {
      message: 'Adding a passkey requires that you confirmed within the last 5 minutes.',
      fix: `Confirm with your ${method}, then repeat the request.`,
      details: { confirm_with: method },
    })
  }
  return beginAddingPasskey(work, { id: admin.id, name: admin.email, displayName: admin.name }, 'second')
}

/**
 * Adds a passkey (`POST /admin/me/passkeys`). From then on the account signs in with its password and a passkey. Other
 * sessions of the account must confirm with it.
 * @throws `validation_error` for a wrong credential, `conflict` if the account has the maximum number of passkeys
 */
export const addAdminPasskey = async (
  work: Work,
  caller: SignedInAdmin,
  input: AddPasskeyInput,
): Promise<PasskeyView> => {
  const { admin, session } = caller
  const { passkey, writes } = await verifyAddedPasskey(work, admin.id, input, 'second')
  const view = presentPasskey(passkey)
  const room = { passkeys: either(missing, lt(LIMITS.passkeysPerAccount)) }
  await work.commit(
    [
      ...writes,
      AdminEntity.update({ id: admin.id }, { add: { passkeys: 1 } }, { where: room, otherwise: tooManyPasskeys }),
      confirmedWrite(work, session, 'passkey'),
      auditAdmin(
        work,
        caller,
        'admin.passkey_added',
        { type: 'admin', id: admin.id },
        { passkey_id: passkey.id, name: passkey.name },
      ),
    ],
    view,
  )
  return view
}

/**
 * Removes a passkey of the caller (`DELETE /admin/me/passkeys/{id}`).
 * @throws `not_found`, `conflict` for the last one of an account that must have a passkey
 */
export const removeAdminPasskey = async (
  work: Work,
  caller: Moderator & { session: AdminSession | undefined },
  id: string,
): Promise<void> => {
  const { admin } = caller
  const known = await listPasskeys(work, admin.id)
  if (!known.some((passkey) => passkey.id === id)) throw noPasskey()
  requireSession(caller)
  const least = mustHavePasskey(work, admin) ? 2 : 1
  await work.commit([
    removePasskeyWrite(admin.id, id),
    AdminEntity.update(
      { id: admin.id },
      { add: { passkeys: -1 } },
      { where: { passkeys: gte(least) }, otherwise: least === 1 ? noPasskey : lastPasskey },
    ),
    auditAdmin(work, caller, 'admin.passkey_removed', { type: 'admin', id: admin.id }, { passkey_id: id }),
  ])
}

/**
 * Removes every passkey of an account whose owner lost them, and ends its sessions (`DELETE
 * /admin/admins/{id}/passkeys`). The next sign-in needs the password only.
 * @throws `not_found`, `forbidden` for the caller's own account
 */
export const resetAdminPasskeys = async (work: AdminWork, actor: Actor, adminId: string): Promise<void> => {
  if (actorId(actor) === adminId) throw ownPasskeys()
  const admin = await loadAdmin(work, adminId)
  const passkeys = await listPasskeys(work, adminId)
  await work.commit([
    ...passkeys.map(({ id }) => removePasskeyWrite(adminId, id)),
    AdminEntity.update(
      { id: adminId },
      { set: { passkeys: 0 }, add: { session_version: 1 } },
      { where: { passkeys: admin.passkeys ?? missing }, otherwise: changed },
    ),
    auditAdmin(
      work,
      actor,
      'admin.passkeys_reset',
      { type: 'admin', id: adminId },
      { passkey_ids: passkeys.map(({ id }) => id) },
    ),
  ])
}

/** Starts a confirmation with a passkey (`POST /admin/me/confirm/passkey/options`). @throws `conflict` without passkeys */
export const beginConfirming = async (work: Work, { admin }: SignedInAdmin): Promise<PasskeyOptionsView> => {
  if (!admin.passkeys) {
    throw fail('conflict', {
      message: 'The account has no passkey.',
      fix: 'Confirm with the password: POST /admin/me/confirm/password.',
    })
  }
  return beginPresentingPasskey(work, 'confirm', admin.id, 'second')
}

/**
 * Confirms with a passkey, which also completes a sign-in (`POST /admin/me/confirm/passkey`).
 * @throws `forbidden` for a wrong answer, `rate_limited` after 5 of them in 15 minutes from one address
 */
export const confirmWithPasskey = async (
  work: Work,
  caller: SignedInAdmin,
  input: PresentPasskeyInput,
): Promise<ConfirmedView> => {
  const { admin, session } = caller
  const refund = await admitAttempt(work, [`admin-session:${session.id}`])
  const found = await verifyPresentedPasskey(work, 'confirm', admin.id, input, 'second')
  if ('refusal' in found) {
    await noteFailure(work, admin)
    if (found.refusal === 'counter') {
      const target = { type: 'admin', id: admin.id }
      const details = { passkey_id: found.passkey.id }
      await work.table.transact([auditAdmin(work, caller, 'admin.passkey_counter_refused', target, details)])
    }
    throw fail('forbidden', { ...PASSKEY_REFUSALS[found.refusal], details: { passkey: found.refusal } })
  }
  await refund()
  const view = confirmed(work)
  const isSignIn = session.confirmed_with !== 'passkey'
  await work.commit(
    [
      ...found.writes,
      confirmedWrite(work, session, 'passkey'),
      auditAdmin(
        work,
        caller,
        isSignIn ? 'admin.signed_in' : 'admin.confirmed',
        { type: 'admin', id: admin.id },
        { passkey_id: found.passkey.id },
      ),
    ],
    view,
  )
  return view
}

/**
 * Confirms with the password, for accounts without a passkey (`POST /admin/me/confirm/password`).
 * @throws `forbidden` for a wrong password or an account with a passkey, `rate_limited`
 */
export const confirmWithPassword = async (
  work: Work,
  caller: SignedInAdmin,
  password: string,
): Promise<ConfirmedView> => {
  const { admin, session } = caller
  if (admin.passkeys) {
    throw fail('forbidden', {
      message: 'The account has a passkey, so a password doesn’t confirm anything.',
      fix: 'Confirm with the passkey: POST /admin/me/confirm/passkey/options.',
    })
  }
  const refund = await admitAttempt(work, [`admin-session:${session.id}`])
  if (!(await verifyPassword(password, admin.password_hash))) {
    await noteFailure(work, admin)
    throw fail('forbidden', { message: 'The password is wrong.', fix: 'Check the password and try again.' })
  }
  await refund()
  const view = confirmed(work)
  await work.commit(
    [
      confirmedWrite(work, session, 'password'),
      auditAdmin(work, caller, 'admin.confirmed', { type: 'admin', id: admin.id }),
    ],
    view,
  )
  return view
}

const confirmed = ({ clock }: Pick<Work, 'clock'>): ConfirmedView => ({
  confirmed_until: iso(clock.now() + LIMITS.confirmationLife),
})

const lastPasskey = (current: { passkeys?: number } | undefined) =>
  (current?.passkeys ?? 0) < 1
    ? noPasskey()
    : fail('conflict', {
        message: 'This is the account’s last passkey, and the account must have one.',
        fix: 'Add another passkey first: POST /admin/me/passkeys/options.',
      })

const ownPasskeys = () =>
  fail('forbidden', {
    message: 'You can’t reset the passkeys of your own account.',
    fix: 'Remove them one by one with DELETE /admin/me/passkeys/{id}, or ask another superadmin.',
  })

const changed = () =>
  fail('conflict', { message: 'The account was changed by another request.', fix: 'Send the request again.' })
