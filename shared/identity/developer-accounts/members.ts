import { ClaimEntity } from '#shared/foundation/claims/index.ts'
import { listPasskeys, removePasskeyWrite } from '#shared/foundation/passkeys/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { iso } from '#shared/kernel/clock.ts'
import { fail, type PlatformError } from '#shared/kernel/errors.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { type AuditAction, auditDeveloper } from '#shared/staff/audit/index.ts'
import { placeOfDeveloper, rosterWrites } from '#shared/staff/roster/index.ts'
import type { Write } from '#shared/table/entity.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import { type Developer, DeveloperEntity, type DeveloperMember } from '../developers/entity.ts'
import { passkeyOwner, sameAddress, unchangedMembers } from '../developers/member-list.ts'
import type { Giver } from '../developers/rights.ts'
import type { DeveloperRole } from '../developers/roles.ts'
import { requireMail, sendMail } from '../mails/index.ts'
import { newInvitation, requireMailRoom } from './email.ts'
import { unchangedKeys } from './keys.ts'
import { loadDeveloper } from './read.ts'
import type { DeveloperMemberView, InviteInput } from './schemas.ts'

const presentMember = ({ id, email, name, role, joined_at, invitation }: DeveloperMember): DeveloperMemberView => ({
  id,
  email,
  name: name ?? null,
  role,
  status: joined_at === undefined ? 'invited' : 'active',
  joined_at: joined_at === undefined ? null : iso(joined_at),
  invitation_expires_at: invitation ? iso(invitation.expires_at) : null,
})

/** Lists the teammates of an account, in the order in which they were invited (`GET /api/v1/dev/members`). */
export const listMembers = async (work: Work, developerId: string): Promise<DeveloperMemberView[]> =>
  (await loadDeveloper(work, developerId)).members.map(presentMember)

/**
 * Invites somebody to the account by e-mail (`POST /api/v1/dev/members`). Inviting an address again sends another link,
 * and the earlier one stops working.
 * @throws `email_not_verified` if the account's own address isn't confirmed: someone who registered with an address that isn't
 * theirs could otherwise stay in the account when its owner recovers it; `conflict`, `mail_not_configured`, `rate_limited`
 */
export const inviteMember = async (
  work: Work,
  { developer_id: developerId, given_by }: Giver,
  { email, role }: InviteInput,
  language: string,
): Promise<DeveloperMemberView> => {
  requireMail(work)
  const id = work.id('developerMember')
  const first = await loadDeveloper(work, developerId)
  if (first.email_verified_at === undefined) {
    throw fail('email_not_verified', {
      message: `The account’s e-mail address ${first.email} isn’t confirmed yet.`,
      fix: 'Confirm it: POST /api/v1/dev/me/email-proof. Then invite teammates.',
    })
  }
  if (await work.table.get(ClaimEntity, { kind: 'developer-email', value: email.toLowerCase() }))
    throw hasAccount(email)
  await requireMailRoom(work, developerId)
  const { view, mailId } = await retryOnConflict(async () => {
    const developer = await loadDeveloper(work, developerId)
    const { members } = developer
    const known = members.find((member) => sameAddress(member.email, email))
    if (known?.joined_at !== undefined) throw hasAccount(email)
    if (!known && members.length >= LIMITS.membersPerDeveloper) {
      throw fail('conflict', {
        message: `The account has ${LIMITS.membersPerDeveloper} teammates, which is the limit. Invitations count.`,
        fix: 'Remove somebody who no longer needs access.',
      })
    }
    const memberId = known?.id ?? id
    const to = { id: developerId, email, member_id: memberId, language }
    const mail = await newInvitation(work, to, { account: developer.company ?? developer.name, role })
    const invitation = { token_hash: mail.tokenHash, expires_at: mail.expiresAt, given_by }
    const member: DeveloperMember = { id: memberId, email, role, invitation, passkeys: 0 }
    const view = presentMember(member)
    await work.commit(
      [
        ...mail.writes,
        ...membersWrites(
          developer,
          known ? members.map((one) => (one === known ? member : one)) : [...members, member],
        ),
        auditMember(work, developerId, 'developer.member_invited', member, { role }),
      ],
      view,
    )
    return { view, mailId: mail.mailId }
  })
  await sendMail(work, mailId)
  return view
}

/**
 * Changes the rights of a teammate, also in their open sessions (`PATCH /api/v1/dev/members/{id}`).
 * @throws `not_found`; `conflict` for the last owner
 */
export const changeMemberRole = (
  work: Work,
  developerId: string,
  id: string,
  role: DeveloperRole,
): Promise<DeveloperMemberView> =>
  retryOnConflict(async () => {
    const developer = await loadDeveloper(work, developerId)
    const { members } = developer
    const member = findMember(members, id)
    const changed = { ...member, role }
    const view = presentMember(changed)
    if (member.role === role) return view
    const now = members.map((one) => (one === member ? changed : one))
    await work.commit(
      [
        ...membersWrites(developer, now),
        auditMember(work, developerId, 'developer.member_role_changed', member, {
          before: { role: member.role },
          after: { role },
        }),
      ],
      view,
    )
    return view
  })

/**
 * Removes a teammate, or withdraws an invitation (`DELETE /api/v1/dev/members/{id}`). What they were given ends with them:
 * sessions, sandbox tokens, stand-ins and invitations name them. Their passkeys and links stop working.
 * @param by the teammate who asks. Anyone may leave; only owners remove others.
 * @throws `not_found`, `forbidden`; `conflict` for the last owner
 */
export const removeMember = (
  work: Work,
  developerId: string,
  id: string,
  by: { role: DeveloperRole; memberId: string | undefined },
): Promise<void> =>
  retryOnConflict(async () => {
    const developer = await loadDeveloper(work, developerId)
    const { members } = developer
    const member = findMember(members, id)
    if (by.role !== 'owner' && by.memberId !== id) {
      throw fail('forbidden', {
        message: 'Only owners of the account can remove other teammates.',
        fix: 'Ask an owner of the account.',
      })
    }
    const passkeys = await listPasskeys(work, passkeyOwner(developerId, id))
    await work.commit([
      ...membersWrites(
        developer,
        members.filter((one) => one !== member),
      ),
      ...passkeys.map((passkey) => removePasskeyWrite(passkey.owner_id, passkey.id)),
      ...(member.joined_at === undefined
        ? []
        : [ClaimEntity.delete({ kind: 'developer-email', value: member.email.toLowerCase() })]),
      auditMember(work, developerId, 'developer.member_removed', member, { role: member.role }),
    ])
  })

/** Error for an address that signs in to an account already. An address belongs to one account. */
export const hasAccount = (email: string): PlatformError =>
  fail('conflict', {
    message: `${email} already signs in to a developer account.`,
    fix: 'Invite another address of the same person, such as one with “+team” before the @.',
  })

/**
 * Returns the writes that replace an account's teammates. The account's own address, to which codes are sent, is always that
 * of an owner.
 * @param keys named keys and sessions, if they change as well
 * @throws `conflict` if no owner is left
 */
export const membersWrites = (
  developer: Developer,
  members: DeveloperMember[],
  keys: Developer['keys'] = developer.keys,
): Write[] => {
  const owners = members.filter(({ role, joined_at }) => role === 'owner' && joined_at !== undefined)
  const contact = owners.find(({ email }) => sameAddress(email, developer.email)) ?? owners[0]
  if (!contact) {
    throw fail('conflict', {
      message: 'The account must keep an owner who has joined.',
      fix: 'Give another teammate the role owner first.',
    })
  }
  const { id, email } = developer
  return [
    DeveloperEntity.update(
      { id },
      { set: { members, keys, email: contact.email } },
      { where: { ...unchangedMembers(developer), ...unchangedKeys(developer), status: 'active' } },
    ),
    ...(contact.email === email
      ? []
      : rosterWrites(placeOfDeveloper(developer), placeOfDeveloper({ ...developer, email: contact.email }))),
  ]
}

const findMember = (members: readonly DeveloperMember[], id: string): DeveloperMember => {
  const member = members.find((one) => one.id === id)
  if (!member) throw fail('not_found', { message: 'The account has no teammate with this id.' })
  return member
}

const auditMember = (
  work: Work,
  developerId: string,
  action: AuditAction,
  { id }: DeveloperMember,
  details: Record<string, unknown>,
): Write => auditDeveloper(work, developerId, action, { type: 'developer_member', id }, details)
