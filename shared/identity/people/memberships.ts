import type { Deps } from '#shared/foundation/work/index.ts'
import type { Write } from '#shared/table/entity.ts'
import { isStillGiven } from './active.ts'
import { type Member, MemberEntity, MembershipEntity, type Workspace, WorkspaceEntity } from './entity.ts'

export interface Belonging {
  workspace: Workspace
  member: Member
}

/**
 * Reports whether a member is still in the membership that began at this time. Someone who leaves and joins again has another
 * one, so whatever a membership gave names its start, and doesn't revive with the next.
 */
export const isMembership = (member: Member | undefined, since: number | undefined): member is Member =>
  member !== undefined && member.joined_at === since

/** Returns the condition that a person is still in this membership, with the rights that were read. */
export const membershipCheck = ({ workspace_id, user_id, joined_at, role }: Member): Write =>
  MemberEntity.check({ workspace_id, user_id }, { where: { joined_at, role } })

/**
 * Loads the membership of a person in a workspace. Undefined if they aren't a member, also if what gave them the membership
 * has ended and only its record is left.
 */
export const findMember = async (
  deps: Pick<Deps, 'table' | 'clock'>,
  workspace_id: string,
  user_id: string,
): Promise<Member | undefined> => {
  const member = await deps.table.get(MemberEntity, { workspace_id, user_id })
  return member && (await isStillGiven(deps, member)) ? member : undefined
}

/** Most workspaces of one person that are listed. With two records each, they fit into one batch read. */
const MAX_LISTED = 50

const records = (workspaceId: string, userId: string) =>
  [WorkspaceEntity.ref({ id: workspaceId }), MemberEntity.ref({ workspace_id: workspaceId, user_id: userId })] as const

/** Loads the workspaces of a person, oldest first. */
export const listWorkspacesOf = async (deps: Pick<Deps, 'table' | 'clock'>, userId: string): Promise<Belonging[]> => {
  const { table } = deps
  const { items } = await table.query(MembershipEntity, { user_id: userId }, { limit: MAX_LISTED, ascending: true })
  const found = await table.getAll(items.flatMap(({ workspace_id }) => records(workspace_id, userId)))
  const belongings = items.flatMap((_, i) => {
    const [workspace, member] = found.slice(2 * i, 2 * i + 2) as [Workspace | undefined, Member | undefined]
    return workspace && member ? [{ workspace, member }] : []
  })
  const given = await Promise.all(belongings.map(({ member }) => isStillGiven(deps, member)))
  return belongings.filter((_, i) => given[i])
}

/** Loads a workspace with the record of the person's membership, also if what gave it has ended. */
export const findRecordedBelonging = async (
  { table }: Pick<Deps, 'table'>,
  workspaceId: string,
  userId: string,
): Promise<Belonging | undefined> => {
  const [workspace, member] = await table.getAll(records(workspaceId, userId))
  return workspace && member && { workspace, member }
}

/** Loads a workspace with the person's membership. Returns undefined if they aren't a member or it doesn't exist. */
export const findBelonging = async (
  deps: Pick<Deps, 'table' | 'clock'>,
  workspaceId: string,
  userId: string,
): Promise<Belonging | undefined> => {
  const found = await findRecordedBelonging(deps, workspaceId, userId)
  return found && (await isStillGiven(deps, found.member)) ? found : undefined
}
