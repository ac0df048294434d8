import {
  type AddPasskeyInput,
  beginAddingPasskey,
  beginPresentingPasskey,
  listPasskeys,
  noPasskey,
  ownerOfPresented,
  PASSKEY_REFUSALS,
  type PasskeyOptionsView,
  type PasskeyRefusal,
  type PasskeyView,
  type PresentPasskeyInput,
  presentPasskey,
  removePasskeyWrite,
  tooManyPasskeys,
  verifyAddedPasskey,
  verifyPresentedPasskey,
} from '#shared/foundation/passkeys/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { MINUTE } from '#shared/kernel/clock.ts'
import { fail } from '#shared/kernel/errors.ts'
import { isId } from '#shared/kernel/ids.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { type AuditAction, auditDeveloper } from '#shared/staff/audit/index.ts'
import type { Write } from '#shared/table/entity.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import { type Developer, DeveloperEntity, type DeveloperMember } from '../developers/entity.ts'
import { memberById, passkeyOwner, unchangedMembers } from '../developers/member-list.ts'
import { unchangedKeys } from './keys.ts'
import { membersWrites } from './members.ts'
import { newDeveloperSession } from './open-session.ts'
import { loadDeveloper } from './read.ts'
import type { DeveloperSessionView } from './schemas.ts'
import { presentSession } from './session.ts'

/** Caller of a passkey endpoint. A key belongs to machines, so it has no teammate. */
export interface PasskeyCaller {
  developerId: string
  member?: { id: string; signedInAt: number } | undefined
}

/** Lists the passkeys of the teammate who signed in, oldest first. Keys have none. */
export const listMemberPasskeys = async (work: Work, { developerId, member }: PasskeyCaller): Promise<PasskeyView[]> =>
  member ? (await listPasskeys(work, passkeyOwner(developerId, member.id))).map(presentPasskey) : []

/**
 * Starts adding a passkey (`POST /api/v1/dev/me/passkeys/options`).
 * @throws `forbidden` for a key; `confirmation_required` if the sign-in will be older than 10 minutes when the ceremony ends;
 *   `conflict` for too many passkeys
 */
export const beginMemberPasskey = async (work: Work, caller: PasskeyCaller): Promise<PasskeyOptionsView> => {
  const { member } = await loadSelf(work, caller, LIMITS.passkeyChallengeLife)
  const id = passkeyOwner(caller.developerId, member.id)
  return beginAddingPasskey(work, { id, name: member.email, displayName: member.name ?? member.email }, 'only')
}

/**
 * Adds a passkey of a teammate (`POST /api/v1/dev/me/passkeys`).
 * @throws `forbidden`, `confirmation_required`, `validation_error` for a wrong credential, `conflict` for too many
 */
export const addMemberPasskey = async (
  work: Work,
  caller: PasskeyCaller,
  input: AddPasskeyInput,
): Promise<PasskeyView> => {
  const { developer, member } = await loadSelf(work, caller)
  const { passkey, writes } = await verifyAddedPasskey(work, passkeyOwner(developer.id, member.id), input, 'only')
  if (member.passkeys >= LIMITS.passkeysPerAccount) throw tooManyPasskeys()
  const view = presentPasskey(passkey)
  await work.commit(
    [...writes, ...countWrites(developer, member, 1), audited(work, caller, 'developer.passkey_added', passkey.id)],
    view,
  )
  return view
}

/**
 * Removes a passkey of the teammate who signed in (`DELETE /api/v1/dev/me/passkeys/{id}`).
 * @throws `not_found`, `confirmation_required`
 */
export const removeMemberPasskey = (work: Work, caller: PasskeyCaller, id: string): Promise<void> =>
  retryOnConflict(async () => {
    const known = await listMemberPasskeys(work, caller)
    if (!known.some((one) => one.id === id)) throw noPasskey()
    const { developer, member } = await loadSelf(work, caller)
    await work.commit([
      removePasskeyWrite(passkeyOwner(developer.id, member.id), id),
      ...countWrites(developer, member, -1),
      audited(work, caller, 'developer.passkey_removed', id),
    ])
  })

/** Starts a sign-in with a passkey (`POST /api/v1/dev/passkeys/sign-in/options`). The browser offers those of this site. */
export const beginMemberSignIn = (work: Work): Promise<PasskeyOptionsView> =>
  beginPresentingPasskey(work, 'sign_in', undefined, 'only')

/**
 * Signs a teammate in with a passkey (`POST /api/v1/dev/passkeys/sign-in`).
 * @throws `unauthorized` for a wrong answer, or one of somebody who was removed; `not_a_developer` for a blocked account
 */
export const signInByMemberPasskey = (work: Work, input: PresentPasskeyInput): Promise<DeveloperSessionView> => {
  const id = work.id('developerKey')
  const ownerId = ownerOfPresented(input)
  const [developerId = '', memberId = ''] = ownerId.split('/')
  return retryOnConflict(async () => {
    if (!isId('developer', developerId) || !isId('developerMember', memberId)) throw refused('elsewhere')
    const found = await verifyPresentedPasskey(work, 'sign_in', ownerId, input, 'only')
    if ('refusal' in found) {
      if (found.refusal === 'counter') {
        const target = { type: 'developer_member', id: memberId }
        const details = { passkey_id: found.passkey.id }
        await work.table.transact([
          auditDeveloper(work, developerId, 'developer.passkey_counter_refused', target, details),
        ])
      }
      throw refused(found.refusal)
    }
    const developer = await loadDeveloper(work, developerId)
    const member = memberById(developer, memberId)
    if (!member) throw refused('unknown')
    const session = newDeveloperSession(work, developer, id, { givenBy: memberId, via: 'passkey' })
    const view = presentSession(session, false)
    await work.commit(
      [
        ...found.writes,
        DeveloperEntity.update(
          { id: developerId },
          { set: { keys: session.keys } },
          { where: { ...unchangedKeys(developer), ...unchangedMembers(developer), status: 'active' } },
        ),
        ...session.writes,
        auditDeveloper(
          work,
          developerId,
          'developer.session_started',
          { type: 'developer', id: developerId },
          { by: 'passkey', member_id: memberId, passkey_id: found.passkey.id },
        ),
      ],
      view,
    )
    return view
  })
}

/**
 * Loads the teammate who asks to change their passkeys, and checks that they signed in recently.
 * @param margin time that the change itself may take
 */
const loadSelf = async (
  work: Work,
  { developerId, member: signedIn }: PasskeyCaller,
  margin = 0,
): Promise<{ developer: Developer; member: DeveloperMember }> => {
  const developer = await loadDeveloper(work, developerId)
  const member = memberById(developer, signedIn?.id)
  if (!signedIn || !member) {
    throw fail('forbidden', {
      message: 'Passkeys belong to people, and this request’s key or session was made with a key.',
      fix: 'Sign in to the portal by e-mail, then add a passkey.',
    })
  }
  if (signedIn.signedInAt + LIMITS.confirmationLife - margin <= work.clock.now()) {
    throw fail('confirmation_required', {
      message: `Changing passkeys requires that you signed in within the last ${(LIMITS.confirmationLife - margin) / MINUTE} minutes.`,
      fix: 'Sign in again, then repeat the request.',
      details: { confirm_with: 'sign_in' },
    })
  }
  return { developer, member }
}

const countWrites = (developer: Developer, member: DeveloperMember, by: 1 | -1): Write[] =>
  membersWrites(
    developer,
    developer.members.map((one) => (one.id === member.id ? { ...one, passkeys: Math.max(0, one.passkeys + by) } : one)),
  )

const audited = (work: Work, { developerId, member }: PasskeyCaller, action: AuditAction, passkey_id: string): Write =>
  auditDeveloper(work, developerId, action, { type: 'developer_member', id: member?.id ?? developerId }, { passkey_id })

const refused = (refusal: PasskeyRefusal) =>
  fail('unauthorized', { ...PASSKEY_REFUSALS[refusal], details: { passkey: refusal } })
