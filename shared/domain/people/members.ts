import { type Member, MemberEntity, type User, UserEntity } from '../../entities/people.ts'
import type { Page, QueryOptions } from '../../table/table.ts'
import type { Deps } from '../deps.ts'

export interface NamedMember {
  member: Member
  /** Undefined for somebody who is gone. */
  user: User | undefined
}

/** Who is in a workspace, those first whose account is the oldest, each with the name that they have now. */
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
  const users = await table.getAll(
    items.map(({ user_id }) => ({ entity: UserEntity, key: UserEntity.key({ id: user_id }) })),
  )
  return { items: items.map((member, i) => ({ member, user: users[i] })), next }
}
