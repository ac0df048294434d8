import {
  atLeast,
  type Member,
  MemberEntity,
  type Role,
  rolesFrom,
  type User,
  UserEntity,
} from '../../entities/people.ts'
import { fail, type PlatformError } from '../../kernel/errors.ts'
import type { Write } from '../../table/entity.ts'
import { oneOf } from '../../table/expressions.ts'
import type { Deps, Work } from '../deps.ts'
import { tryAgain } from '../try-again.ts'

export interface Permitted {
  target: Member
  /** Undefined for somebody who is gone. */
  user: User | undefined
  /** What permits it, as conditions of the transaction that does it. */
  checks: Write[]
}

/**
 * Changes what a person is in a workspace, or ends it, by the rules of rank: it takes an admin (but to leave), nobody gives a role above
 * their own or touches somebody above them (so only owners make and unmake owners), and one owner always stays. All of it
 * holds in the transaction itself: two owners who demote one another at once leave one.
 * @param next the role that the target gets; undefined ends the membership
 * @param commit does it, in one transaction with `checks`, under the condition that the target still has the role it had
 * @throws `not_found`, `admin_required`; `conflict` for the last owner
 */
export const onMember = <T>(
  work: Work,
  by: Pick<Member, 'workspace_id' | 'user_id'>,
  targetId: string,
  next: Role | undefined,
  commit: (permitted: Permitted) => Promise<T>,
): Promise<T> => tryAgain(async () => commit(await permit(work, by, targetId, next)))

const permit = async (
  work: Work,
  { workspace_id, user_id }: Pick<Member, 'workspace_id' | 'user_id'>,
  targetId: string,
  next: Role | undefined,
): Promise<Permitted> => {
  const [actor, target, user] = await work.table.getAll([
    { entity: MemberEntity, key: MemberEntity.key({ workspace_id, user_id }) },
    { entity: MemberEntity, key: MemberEntity.key({ workspace_id, user_id: targetId }) },
    { entity: UserEntity, key: UserEntity.key({ id: targetId }) },
  ])
  if (!actor) throw fail('unauthorized', { message: 'The session has ended.', fix: 'Sign in again.' })
  if (!target) throw noMember()
  const self = actor.user_id === target.user_id
  // Leaving is everybody's own.
  if (!self || next !== undefined) refuseBelow(actor.role, 'admin', target.role, next ?? 'member')
  const checks = self ? [] : [MemberEntity.check(actor, { where: { role: actor.role } })]
  // Whoever unmakes another owner is one and stays one. Whoever steps down needs somebody to stay.
  if (self && target.role === 'owner' && next !== 'owner') {
    const other = await anotherOwner(work, target)
    if (!other) throw lastOwner()
    checks.push(
      MemberEntity.check(other, { where: { role: 'owner' } }),
      UserEntity.check({ id: other.user_id }, { where: { status: 'active' } }),
    )
  }
  return { target, user, checks }
}

/** @throws `admin_required` naming the highest of the roles that the actor's own is below */
export const refuseBelow = (actual: Role, ...needed: Role[]): void => {
  const missing = needed.filter((role) => !atLeast(actual, role)).sort((a, b) => (atLeast(a, b) ? -1 : 1))[0]
  if (missing !== undefined) throw lacks(missing)
}

/** The role that a member needs, as a condition of the transaction: they may have lost it since the request came. */
export const holdsStill = (member: Member, needed: Role): Write =>
  MemberEntity.check(member, { where: { role: oneOf(...rolesFrom(needed)) }, otherwise: () => lacks(needed) })

const lacks = (role: Role): PlatformError =>
  fail('admin_required', { message: `This needs the role ${role}.`, fix: `Ask somebody with the role ${role}.` })

const PAGE = 100

/** Who owns the workspace beside that member. An owner who is blocked, or gone, keeps none. */
export const anotherOwner = async (
  { table }: Pick<Deps, 'table'>,
  { workspace_id, user_id }: Member,
): Promise<Member | undefined> => {
  let after: string | undefined
  do {
    const page = await table.query(MemberEntity, { workspace_id }, { limit: PAGE, after, ascending: true })
    const owners = page.items.filter((member) => member.role === 'owner' && member.user_id !== user_id)
    const users = await table.getAll(
      owners.map((one) => ({ entity: UserEntity, key: UserEntity.key({ id: one.user_id }) })),
    )
    const found = owners.find((_, i) => users[i]?.status === 'active')
    if (found) return found
    after = page.next
  } while (after !== undefined)
  return undefined
}

const noMember = (): PlatformError => fail('not_found', { message: 'There is no such member in this workspace.' })

const lastOwner = (): PlatformError =>
  fail('conflict', {
    message: 'A workspace keeps at least one owner, and this is the last one.',
    fix: 'Make somebody else an owner first.',
  })
