import type { Deps } from '#shared/foundation/work/index.ts'
import type { Page, QueryOptions } from '#shared/table/table.ts'
import { isStillGiven } from './active.ts'
import { type Member, MemberEntity, type User, UserEntity } from './entity.ts'

export interface NamedMember {
  member: Member
  /** Undefined for a person who was deleted. */
  user: User | undefined
}

/**
 * Lists the members of a workspace with their current names, oldest account first. A membership may have ended with what
 * gave it, so a page may hold fewer than its limit.
 */
export const listMembers = async (
  deps: Pick<Deps, 'table' | 'clock'>,
  workspaceId: string,
  options: Pick<QueryOptions, 'limit' | 'after'>,
): Promise<Page<NamedMember>> => {
  const { table } = deps
  const { items: recorded, next } = await table.query(
    MemberEntity,
    { workspace_id: workspaceId },
    { ...options, ascending: true },
  )
  const given = await Promise.all(recorded.map((member) => isStillGiven(deps, member)))
  const items = recorded.filter((_, i) => given[i])
  const users = await table.getAll(items.map(({ user_id }) => UserEntity.ref({ id: user_id })))
  return { items: items.map((member, i) => ({ member, user: users[i] })), next }
}
