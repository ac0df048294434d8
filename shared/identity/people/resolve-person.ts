import type { Deps, Work } from '#shared/foundation/work/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { stampOf } from '#shared/kernel/ids.ts'
import { translator } from '#shared/kernel/messages.ts'
import type { Write } from '#shared/table/entity.ts'
import { IdentityEntity, type Member, MemberEntity, MembershipEntity, type User, UserEntity } from './entity.ts'
import { type Belonging, findBelonging, listWorkspacesOf } from './memberships.ts'
import { newWorkspaceWrites } from './workspaces.ts'

/** Person who signs in through another service, with an identity there such as `telegram:42`. */
export interface ExternalPerson {
  identity: string
  name: string
  /** Used in the name of their first workspace. */
  firstName: string
  /** BCP 47. */
  locale: string
  /** Public handle in the messaging app. */
  handle?: string | undefined
  /** Workspace that they join in the same transaction. A new person starts there instead of in their own workspace. */
  home?: string
}

/** Person with a workspace that they belong to, and the writes that create or update both. */
export interface Arrival {
  user: User
  belonging: Belonging
  writes: Write[]
  /** Writes that record their activity, on the condition that they are still a member of the workspace. */
  checks: Write[]
}

/** Finds the person with an identity. Returns undefined for an unknown identity. */
export const findPersonByIdentity = async (
  { table }: Pick<Deps, 'table'>,
  identity: string,
): Promise<User | undefined> => {
  const known = await table.get(IdentityEntity, { identity })
  return known && table.get(UserEntity, { id: known.user_id })
}

/**
 * Resolves an identity to the existing person, or to a new person with their own workspace. Of two concurrent first
 * sign-ins, one creates the person. The other's transaction fails and must be retried.
 * @throws `forbidden` for a blocked person
 */
export const resolvePerson = async (work: Work, comer: ExternalPerson): Promise<Arrival> => {
  const user = await findPersonByIdentity(work, comer.identity)
  // Deleting a person releases the identity, so a tombstone is only found if the identity was read just before.
  return user && user.status !== 'deleted' ? returning(work, user, comer) : newcomer(work, comer)
}

const newcomer = (work: Work, { identity, name, firstName, locale, handle, home }: ExternalPerson): Arrival => {
  const now = work.clock.now()
  const id = work.id('user')
  const created = createOwnWorkspace(work, { id, name, firstName, locale })
  const user: User = {
    ...stampOf(id),
    name,
    identity,
    handle,
    locale,
    time_zone: 'UTC',
    status: 'active',
    home_workspace_id: home ?? created.belonging.workspace.id,
  }
  return {
    user,
    belonging: created.belonging,
    checks: [],
    writes: [
      IdentityEntity.create({ identity, user_id: id, created_at: now }),
      UserEntity.create(user),
      ...created.writes,
    ],
  }
}

/** Resolves a known person to a workspace of theirs. @throws `forbidden` for a blocked person */
export const resumePerson = (work: Work, user: User): Promise<Arrival> =>
  returning(work, user, { ...user, firstName: user.name })

/** Selects the person's last workspace if they are still a member, otherwise another of theirs, otherwise a new one. */
const returning = async (
  work: Work,
  known: User,
  { name, firstName, handle, home }: ExternalPerson,
): Promise<Arrival> => {
  if (known.status !== 'active') throw fail('forbidden', { message: 'This account is blocked.', fix: SUPPORT })
  const belonging =
    (await findBelonging(work, known.home_workspace_id, known.id)) ?? (await listWorkspacesOf(work, known.id))[0]
  // A person who deletes their account at the same time must not get their name back or join a workspace.
  const where = { status: 'active' as const }
  const isSame = name === known.name && handle === known.handle
  const renamed = isSame ? {} : { name, handle }
  const joining = home === undefined ? {} : { add: { joins: 1 } }
  const user = { ...known, ...renamed }
  if (belonging) {
    const isUnchanged = isSame && home === undefined
    const writes = isUnchanged ? [] : [UserEntity.update(known, { set: renamed, ...joining }, { where })]
    return {
      user,
      belonging,
      writes,
      checks: [MemberEntity.update(belonging.member, { set: { active_at: work.clock.now() } })],
    }
  }
  const created = createOwnWorkspace(work, { ...user, firstName })
  const home_workspace_id = created.belonging.workspace.id
  // Of two concurrent sign-ins, one creates the workspace and the other finds it.
  const alone = { where: { ...where, home_workspace_id: known.home_workspace_id } }
  return {
    user: { ...user, home_workspace_id },
    belonging: created.belonging,
    checks: [],
    writes: [
      UserEntity.update(known, { set: { ...renamed, home_workspace_id }, ...joining }, alone),
      ...created.writes,
    ],
  }
}

const SUPPORT = 'Contact platform support.'

/** Creates a workspace that the person owns. */
const createOwnWorkspace = (
  work: Work,
  owner: { id: string; name: string; firstName: string; locale: string },
): Pick<Arrival, 'belonging' | 'writes'> => {
  const t = translator(owner.locale)
  const { workspace, writes } = newWorkspaceWrites(work, {
    name: t('{name}’s workspace', { name: owner.firstName }),
    locale: owner.locale,
  })
  const member: Member = {
    workspace_id: workspace.id,
    user_id: owner.id,
    name: owner.name,
    role: 'owner',
    joined_at: work.clock.now(),
    active_at: work.clock.now(),
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
