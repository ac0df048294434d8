import type { Deps, Work } from '#shared/foundation/work/index.ts'
import { fail, type PlatformError } from '#shared/kernel/errors.ts'
import type { Write } from '#shared/table/entity.ts'
import { oneOf } from '#shared/table/expressions.ts'
import { eachPage } from '#shared/table/pages.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import { isStillGiven } from './active.ts'
import { atLeast, type Member, MemberEntity, type Role, rolesFrom, type User, UserEntity } from './entity.ts'

export interface Permitted {
  target: Member
  /** Undefined for a person who was deleted. */
  user: User | undefined
  /** Conditions for the transaction that makes the change. */
  checks: Write[]
}

/**
 * Changes or ends a person's membership if the rules of rank permit it:
 * - only admins may do it, except that everyone may leave
 * - members can't give a role above their own or change a member above them, so only owners add and remove owners
 * - one owner always remains
 *
 * The transaction itself checks these rules, so two owners who demote each other at the same time leave one owner.
 * @param next the target's new role, or undefined to end the membership
 * @param commit makes the change in one transaction with `checks`, on condition that the target's role is unchanged
 * @throws `not_found`, `admin_required`, `conflict` for the last owner
 */
export const changeMembership = <T>(
  work: Work,
  by: Pick<Member, 'workspace_id' | 'user_id'>,
  targetId: string,
  next: Role | undefined,
  commit: (permitted: Permitted) => Promise<T>,
): Promise<T> => retryOnConflict(async () => commit(await permit(work, by, targetId, next)))

const permit = async (
  work: Work,
  { workspace_id, user_id }: Pick<Member, 'workspace_id' | 'user_id'>,
  targetId: string,
  next: Role | undefined,
): Promise<Permitted> => {
  const [actor, target, user] = await work.table.getAll([
    MemberEntity.ref({ workspace_id, user_id }),
    MemberEntity.ref({ workspace_id, user_id: targetId }),
    UserEntity.ref({ id: targetId }),
  ])
  if (!actor) throw fail('unauthorized', { message: 'The session has ended.', fix: 'Sign in again.' })
  if (!target) throw noMember()
  const isSelf = actor.user_id === target.user_id
  // Everyone may leave.
  if (!isSelf || next !== undefined) requireRole(actor.role, 'admin', target.role, next ?? 'member')
  const checks = isSelf ? [] : [MemberEntity.check(actor, { where: { role: actor.role } })]
  // Demoting another owner leaves the actor as an owner. An owner who steps down needs another owner to remain.
  if (isSelf && target.role === 'owner' && next !== 'owner') {
    const other = await findAnotherOwner(work, target)
    if (!other) throw lastOwner()
    checks.push(
      MemberEntity.check(other, { where: { role: 'owner' } }),
      UserEntity.check({ id: other.user_id }, { where: { status: 'active' } }),
    )
  }
  return { target, user, checks }
}

/** Checks that a role is at least each of the needed ones. @throws `admin_required` naming the highest missing role */
export const requireRole = (actual: Role, ...needed: Role[]): void => {
  const missing = needed.filter((role) => !atLeast(actual, role)).sort((a, b) => (atLeast(a, b) ? -1 : 1))[0]
  if (missing !== undefined) throw missingRole(missing)
}

/** Returns the condition that a member still has the needed role, which they may have lost since the request arrived. */
export const roleCheck = (member: Member, needed: Role): Write =>
  MemberEntity.check(member, {
    where: { joined_at: member.joined_at, role: oneOf(...rolesFrom(needed)) },
    otherwise: () => missingRole(needed),
  })

const missingRole = (role: Role): PlatformError =>
  fail('admin_required', {
    message: `This action requires the role ${role}.`,
    fix: `Ask a member with the role ${role}.`,
  })

const PAGE = 100

/** Finds another owner of the member's workspace. Blocked and deleted people don't count. */
export const findAnotherOwner = async (
  deps: Pick<Deps, 'table' | 'clock'>,
  { workspace_id, user_id }: Member,
): Promise<Member | undefined> => {
  const { table } = deps
  for await (const members of eachPage((after) =>
    table.query(MemberEntity, { workspace_id }, { limit: PAGE, after, ascending: true }),
  )) {
    const owners = members.filter((member) => member.role === 'owner' && member.user_id !== user_id)
    const users = await table.getAll(owners.map((owner) => UserEntity.ref({ id: owner.user_id })))
    const given = await Promise.all(owners.map((owner) => isStillGiven(deps, owner)))
    const found = owners.find((_, i) => users[i]?.status === 'active' && given[i])
    if (found) return found
  }
  return undefined
}

const noMember = (): PlatformError => fail('not_found', { message: 'This workspace has no member with this id.' })

const lastOwner = (): PlatformError =>
  fail('conflict', {
    message: 'This member is the last owner, and a workspace needs at least one.',
    fix: 'Make another member an owner first.',
  })
