import {
  IdentityEntity,
  type Member,
  MemberEntity,
  MembershipEntity,
  type User,
  UserEntity,
} from '../../entities/people.ts'
import { fail } from '../../kernel/errors.ts'
import type { Write } from '../../table/entity.ts'
import type { Deps, Work } from '../deps.ts'
import { type Belonging, belongingTo, workspacesOf } from './memberships.ts'
import { newWorkspaceWrites } from './workspaces.ts'

/** Somebody who comes from elsewhere, known there by an identity such as `telegram:42`. */
export interface Comer {
  identity: string
  name: string
  /** What their first workspace is named after. */
  firstName: string
  /** BCP 47. */
  locale: string
  /** The workspace that they come to join, in the same transaction: a newcomer starts there, and not in the one that they get. */
  home?: string
}

/** A person, a workspace that they are in, and what has to be written for it to be so. */
export interface Arrival {
  user: User
  belonging: Belonging
  writes: Write[]
  /** What has to hold still for them to land there, as conditions of the transaction. */
  checks: Write[]
}

/** The person with an identity; undefined for somebody who was never here. */
export const personBy = async ({ table }: Pick<Deps, 'table'>, identity: string): Promise<User | undefined> => {
  const known = await table.get(IdentityEntity, { identity })
  return known && table.get(UserEntity, { id: known.user_id })
}

/**
 * Brings somebody in: the person that they are already, or a new one with a workspace of their own. Of two first arrivals
 * at once one makes the person; the other's transaction fails, and the attempt is to be made again.
 * @throws `forbidden` for a person who is blocked
 */
export const arrive = async (work: Work, comer: Comer): Promise<Arrival> => {
  const user = await personBy(work, comer.identity)
  // A tombstone lets go of its identity with the person: whoever found it has read it just before.
  return user && user.status !== 'deleted' ? returning(work, user, comer) : newcomer(work, comer)
}

const newcomer = (work: Work, { identity, name, firstName, locale, home }: Comer): Arrival => {
  const now = work.clock.now()
  const id = work.id('user')
  const founded = found(work, { id, name, firstName, locale })
  const user: User = {
    id,
    name,
    identity,
    locale,
    time_zone: 'UTC',
    status: 'active',
    home_workspace_id: home ?? founded.belonging.workspace.id,
    created_at: now,
  }
  return {
    user,
    belonging: founded.belonging,
    checks: [],
    writes: [
      IdentityEntity.create({ identity, user_id: id, created_at: now }),
      UserEntity.create(user),
      ...founded.writes,
    ],
  }
}

/** They land where they were last, if they are still in there; else in another workspace of theirs, else in a new one. */
const returning = async (work: Work, known: User, { name, firstName, home }: Comer): Promise<Arrival> => {
  if (known.status !== 'active') throw fail('forbidden', { message: 'This account is blocked.', fix: SUPPORT })
  const belonging =
    (await belongingTo(work, known.home_workspace_id, known.id)) ?? (await workspacesOf(work, known.id))[0]
  // Who deletes their account in this moment neither gets their name back nor joins anything.
  const where = { status: 'active' as const }
  const renamed = name === known.name ? {} : { name }
  const joining = home === undefined ? {} : { add: { joins: 1 } }
  const user = { ...known, ...renamed }
  if (belonging) {
    const same = name === known.name && home === undefined
    const writes = same ? [] : [UserEntity.update(known, { set: renamed, ...joining }, { where })]
    return { user, belonging, writes, checks: [MemberEntity.check(belonging.member, {})] }
  }
  const founded = found(work, { ...user, firstName })
  const home_workspace_id = founded.belonging.workspace.id
  // Of two at once one founds a workspace, and the other finds it.
  const alone = { where: { ...where, home_workspace_id: known.home_workspace_id } }
  return {
    user: { ...user, home_workspace_id },
    belonging: founded.belonging,
    checks: [],
    writes: [
      UserEntity.update(known, { set: { ...renamed, home_workspace_id }, ...joining }, alone),
      ...founded.writes,
    ],
  }
}

const SUPPORT = 'Contact the platform’s support.'

/** A workspace that the person owns. */
const found = (
  work: Work,
  owner: { id: string; name: string; firstName: string; locale: string },
): Pick<Arrival, 'belonging' | 'writes'> => {
  const { workspace, writes } = newWorkspaceWrites(work, {
    name: `${owner.firstName}’s workspace`,
    locale: owner.locale,
  })
  const member: Member = {
    workspace_id: workspace.id,
    user_id: owner.id,
    name: owner.name,
    role: 'owner',
    joined_at: work.clock.now(),
  }
  return {
    belonging: { workspace, member },
    writes: [
      ...writes,
      MemberEntity.create(member),
      MembershipEntity.create({ user_id: owner.id, workspace_id: workspace.id }),
    ],
  }
}
