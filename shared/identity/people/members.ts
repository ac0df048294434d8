import type { Deps } from '#shared/foundation/work/index.ts'
import type { Page, QueryOptions } from '#shared/table/table.ts'
import { type Member, MemberEntity, type User, UserEntity } from './entity.ts'

export interface NamedMember {
  member: Member
  /** Undefined for a person who was deleted. */
  user: User | undefined
}

/** Lists the members of a workspace with their current names, oldest account first. */
export const listMembers = async (
  { table }: Pick<Deps, 'table'>,
  workspaceId: string,
  options: Pick<QueryOptions, 'limit' | 'after'>,
): Promise<Page<NamedMember>> => {
  const { items, next } = await table.query(
    MemberEntity,
    { workspace_id: workspaceId },
    { ...options, ascending: true },
  )
  const users = await table.getAll(items.map(({ user_id }) => UserEntity.ref({ id: user_id })))
  return { items: items.map((member, i) => ({ member, user: users[i] })), next }
}
