import { DeveloperEntity } from '../../entities/developers.ts'
import { atLeast, type Invitation, MemberEntity, ROLES, type Role, UserEntity } from '../../entities/people.ts'
import { isId } from '../../kernel/ids.ts'
import type { Write } from '../../table/entity.ts'
import { oneOf } from '../../table/expressions.ts'
import type { Deps } from '../deps.ts'

/** The role that an inviter has to hold for as long as the invitation is to live: an admin's, and at least what it gives. */
const needed = ({ role }: Invitation): Role => (atLeast(role, 'admin') ? role : 'admin')

/** A developer invites into their sandbox workspace without being a member of it. */
const byDeveloper = ({ created_by }: Invitation): boolean => isId('developer', created_by)

const member = ({ workspace_id, created_by }: Invitation) => ({ workspace_id, user_id: created_by })

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
    const role = members[i]?.role
    const inviter = byDeveloper(invitation) ? developers[i] : users[i]
    const entitled = byDeveloper(invitation) || (role !== undefined && atLeast(role, needed(invitation)))
    return entitled && inviter?.status === 'active' ? { id: inviter.id, name: inviter.name } : undefined
  })
}

/** The same as conditions of a transaction. */
export const inviterStands = (invitation: Invitation, otherwise: () => unknown): Write[] => {
  const active = { where: { status: 'active' as const }, otherwise }
  if (byDeveloper(invitation)) return [DeveloperEntity.check({ id: invitation.created_by }, active)]
  const roles = ROLES.filter((role) => atLeast(role, needed(invitation)))
  return [
    MemberEntity.check(member(invitation), { where: { role: oneOf(...roles) }, otherwise }),
    UserEntity.check({ id: invitation.created_by }, active),
  ]
}
