import { ClaimEntity } from '#shared/foundation/claims/index.ts'
import { listPasskeys, removePasskeyWrite } from '#shared/foundation/passkeys/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { newSecret, sha256 } from '#shared/kernel/secrets.ts'
import { auditDeveloper } from '#shared/staff/audit/index.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import { DeveloperEntity, DeveloperKeyEntity } from '../developers/entity.ts'
import { memberById, memberWith, passkeyOwner, unchangedMembers } from '../developers/member-list.ts'
import { requireMail, sendMail } from '../mails/index.ts'
import { loadEmailToken, newEmailToken, takeMail, useEmailToken } from './email.ts'
import { unchangedKeys } from './keys.ts'
import { presentDeveloper } from './present.ts'
import type { RecoveredView } from './schemas.ts'

/**
 * Sends a code to the address of a teammate (`POST /api/v1/dev/recover`, `POST /api/v1/dev/sign-in`). Only owners recover the
 * account. The response is the same whether the address belongs to an account, the account is blocked, or it has received
 * enough e-mails.
 * @throws `mail_not_configured`
 */
export const requestCode = async (
  work: Work,
  email: string,
  purpose: 'recover' | 'sign_in',
  language: string,
): Promise<{ accepted: true }> => {
  requireMail(work)
  const accepted = { accepted: true as const }
  const claim = await work.table.get(ClaimEntity, { kind: 'developer-email', value: email.toLowerCase() })
  const developer = claim && (await work.table.get(DeveloperEntity, { id: claim.owner_id }))
  const member = developer && memberWith(developer, email)
  if (developer?.status !== 'active' || !member || (purpose === 'recover' && member.role !== 'owner')) return accepted
  if (!(await takeMail(work, developer.id)).allowed) return accepted
  const to = { id: developer.id, email: member.email, member_id: member.id, language }
  const { mailId, writes } = await newEmailToken(work, to, purpose)
  const target = { type: 'developer', id: developer.id }
  await work.commit([...writes, auditDeveloper(work, developer.id, ACTIONS[purpose], target)], accepted)
  await sendMail(work, mailId)
  return accepted
}

const ACTIONS = { recover: 'developer.recovery_requested', sign_in: 'developer.sign_in_requested' } as const

/** Sends a recovery code (`POST /api/v1/dev/recover`). @throws `mail_not_configured` */
export const requestRecovery = (work: Work, email: string, language: string): Promise<{ accepted: true }> =>
  requestCode(work, email, 'recover', language)

/**
 * Gives an account a new key for the code in its recovery e-mail (`POST /api/v1/dev/recover/confirm`). Every earlier key and
 * session ends, and with them whatever they gave, because somebody else may hold them: also somebody who registered with
 * this address before its owner did. So do open invitations, and the passkeys of the teammate who recovers the account.
 * @throws `forbidden` for a wrong code, `not_a_developer`
 */
export const recoverKey = async (work: Work, token: string): Promise<RecoveredView> => {
  const record = await loadEmailToken(work, token, 'recover')
  const api_key = newSecret('dvk_')
  const key_hash = sha256(api_key)
  return retryOnConflict(async () => {
    const developer = await work.table.get(DeveloperEntity, { id: record.developer_id })
    if (developer?.status !== 'active') throw fail('not_a_developer')
    const member = memberById(developer, record.member_id)
    if (member?.email !== record.email || member.role !== 'owner') throw fail('not_a_developer')
    const { id } = developer
    const now = work.clock.now()
    const members = developer.members
      .filter(({ joined_at }) => joined_at !== undefined)
      .map((one) => (one.id === member.id ? { ...one, passkeys: 0 } : one))
    const changes = {
      key_hash,
      keys: [],
      email_verified_at: developer.email_verified_at ?? now,
      members,
    }
    const passkeys = await listPasskeys(work, passkeyOwner(id, member.id))
    const view = { developer: presentDeveloper({ ...developer, ...changes }), api_key }
    await work.commit(
      [
        useEmailToken(record),
        DeveloperEntity.update(
          { id },
          { set: changes },
          { where: { ...unchangedKeys(developer), ...unchangedMembers(developer), status: 'active' } },
        ),
        ...passkeys.map((passkey) => removePasskeyWrite(passkey.owner_id, passkey.id)),
        DeveloperKeyEntity.create({ key_hash, developer_id: id, status: 'active', role: 'owner', created_at: now }),
        ...[developer, ...developer.keys].map((old) => DeveloperKeyEntity.delete({ key_hash: old.key_hash })),
        auditDeveloper(work, id, 'developer.key_recovered', { type: 'developer', id }),
      ],
      view,
    )
    return view
  })
}
