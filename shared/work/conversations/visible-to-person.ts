import type { Deps } from '#shared/foundation/work/index.ts'
import { canSeeAccount } from '../threads/accounts.ts'
import { AccountEntity, type Thread, ThreadEntity } from '../threads/entity.ts'
import type { Conversation } from './entity.ts'

/**
 * Keeps those of an agent's conversations that a person also sees in the console: their own chats, tasks, and the messenger
 * threads of accounts visible to them. Two reads for any number of conversations.
 */
export const filterVisibleToPerson = async (
  { table }: Pick<Deps, 'table'>,
  workspace_id: string,
  viewer: string,
  conversations: readonly Conversation[],
): Promise<Conversation[]> => {
  const ids = conversations.flatMap(({ thread_id }) => thread_id ?? [])
  const threads = (await table.getAll(ids.map((id) => ThreadEntity.ref({ workspace_id, id })))) as (
    | Thread
    | undefined
  )[]
  const accounts = await table.getAll(
    threads.map((thread) => AccountEntity.ref({ workspace_id, id: thread?.account_id ?? '-' })),
  )
  const seen = new Set(ids.filter((_, i) => accounts[i] && canSeeAccount({ user: { id: viewer } }, accounts[i])))
  return conversations.filter(({ kind, user_id, thread_id }) => {
    if (kind === 'task') return user_id === undefined || user_id === viewer
    return kind === 'person' ? thread_id !== undefined && seen.has(thread_id) : user_id === viewer
  })
}
