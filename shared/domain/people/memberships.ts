import { type Member, MemberEntity, MembershipEntity, type Workspace, WorkspaceEntity } from '../../entities/people.ts'
import type { Deps } from '../deps.ts'

export interface Belonging {
  workspace: Workspace
  member: Member
}

/** Workspaces of one person that screens offer; far more than anybody is in. */
const SHOWN = 50

/** The workspaces that a person is in, oldest first. */
export const workspacesOf = async ({ table }: Pick<Deps, 'table'>, userId: string): Promise<Belonging[]> => {
  const { items } = await table.query(MembershipEntity, { user_id: userId }, { limit: SHOWN, ascending: true })
  const found = await Promise.all(items.map(({ workspace_id }) => belongingTo({ table }, workspace_id, userId)))
  return found.filter((one) => one !== undefined)
}

/** A workspace and what the person is in it; undefined when they are not in it, or it does not exist. */
export const belongingTo = async (
  { table }: Pick<Deps, 'table'>,
  workspaceId: string,
  userId: string,
): Promise<Belonging | undefined> => {
  const [workspace, member] = await table.getAll([
    { entity: WorkspaceEntity, key: WorkspaceEntity.key({ id: workspaceId }) },
    { entity: MemberEntity, key: MemberEntity.key({ workspace_id: workspaceId, user_id: userId }) },
  ])
  return workspace && member && { workspace, member }
}
