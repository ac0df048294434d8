import { type Member, MemberEntity, MembershipEntity, type Workspace, WorkspaceEntity } from '../../entities/people.ts'
import type { Deps } from '../deps.ts'

export interface Belonging {
  workspace: Workspace
  member: Member
}

/** Workspaces of one person that screens offer; far more than anybody is in, and two records of each fit into one batch. */
const SHOWN = 50

const records = (workspaceId: string, userId: string) =>
  [
    { entity: WorkspaceEntity, key: WorkspaceEntity.key({ id: workspaceId }) },
    { entity: MemberEntity, key: MemberEntity.key({ workspace_id: workspaceId, user_id: userId }) },
  ] as const

/** The workspaces that a person is in, oldest first, in two round trips. */
export const workspacesOf = async ({ table }: Pick<Deps, 'table'>, userId: string): Promise<Belonging[]> => {
  const { items } = await table.query(MembershipEntity, { user_id: userId }, { limit: SHOWN, ascending: true })
  const found = await table.getAll(items.flatMap(({ workspace_id }) => records(workspace_id, userId)))
  return items.flatMap((_, i) => {
    const [workspace, member] = found.slice(2 * i, 2 * i + 2) as [Workspace | undefined, Member | undefined]
    return workspace && member ? [{ workspace, member }] : []
  })
}

/** A workspace and what the person is in it; undefined when they are not in it, or it does not exist. */
export const belongingTo = async (
  { table }: Pick<Deps, 'table'>,
  workspaceId: string,
  userId: string,
): Promise<Belonging | undefined> => {
  const [workspace, member] = await table.getAll(records(workspaceId, userId))
  return workspace && member && { workspace, member }
}
