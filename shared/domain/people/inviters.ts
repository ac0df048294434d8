import { DeveloperEntity } from '../../entities/developers.ts'
import {
  atLeast,
  type Invitation,
  type Member,
  MemberEntity,
  type Role,
  rolesFrom,
  UserEntity,
} from '../../entities/people.ts'
import { isId } from '../../kernel/ids.ts'
import type { Write } from '../../table/entity.ts'
import { either, lt, lte, missing, oneOf } from '../../table/expressions.ts'
import type { Deps } from '../deps.ts'

/** The role that an inviter has to hold for as long as the invitation is to live: an admin's, and at least what it gives. */
export const neededFor = (role: Role): 'admin' | 'owner' => (role === 'owner' ? 'owner' : 'admin')

/** A developer invites into their sandbox workspace without being a member of it. */
const byDeveloper = ({ created_by }: Invitation): boolean => isId('developer', created_by)

const member = ({ workspace_id, created_by }: Invitation) => ({ workspace_id, user_id: created_by })

/** Where a member keeps when they last ceased to be one: an invitation from before stays dead when they are one again. */
export const UNTIL = { admin: 'admin_until', owner: 'owner_until' } as const

const standsBehind = (by: Member | undefined, { role, created_at }: Invitation): boolean => {
  const needed = neededFor(role)
  return (
    by !== undefined && atLeast(by.role, needed) && by.joined_at <= created_at && (by[UNTIL[needed]] ?? -1) < created_at
  )
}

/**
 * Who stands behind each invitation, in one round trip; undefined where nobody does any more and the invitation is dead:
 * the inviter lost the role, left, or was blocked (decisions §3).
 */
export const invitersOf = async (
  { table }: Pick<Deps, 'table'>,
  invitations: readonly Invitation[],
): Promise<({ id: string; name: string } | undefined)[]> => {
  const [members, users, developers] = await Promise.all([
    table.getAll(invitations.map((one) => ({ entity: MemberEntity, key: MemberEntity.key(member(one)) }))),
    table.getAll(invitations.map((one) => ({ entity: UserEntity, key: UserEntity.key({ id: one.created_by }) }))),
    table.getAll(
      invitations.map((one) => ({ entity: DeveloperEntity, key: DeveloperEntity.key({ id: one.created_by }) })),
    ),
  ])
  return invitations.map((invitation, i) => {
    const inviter = byDeveloper(invitation) ? developers[i] : users[i]
    const entitled = byDeveloper(invitation) || standsBehind(members[i], invitation)
    return entitled && inviter?.status === 'active' ? { id: inviter.id, name: inviter.name } : undefined
  })
}

/** The same as conditions of a transaction. */
export const inviterStands = (invitation: Invitation, otherwise: () => unknown): Write[] => {
  const active = { where: { status: 'active' as const }, otherwise }
  if (byDeveloper(invitation)) return [DeveloperEntity.check({ id: invitation.created_by }, active)]
  const { role, created_at } = invitation
  const needed = neededFor(role)
  const since = { joined_at: lte(created_at), [UNTIL[needed]]: either(missing, lt(created_at)) }
  return [
    MemberEntity.check(member(invitation), { where: { role: oneOf(...rolesFrom(needed)), ...since }, otherwise }),
    UserEntity.check({ id: invitation.created_by }, active),
  ]
}
