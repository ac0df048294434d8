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
  const ids = conversations.flatMap(({ dialog_id }) => dialog_id ?? [])
  const dialogs = (await table.getAll(ids.map((id) => ThreadEntity.ref({ workspace_id, id })))) as (
    | Thread
    | undefined
  )[]
  const accounts = await table.getAll(
    dialogs.map((dialog) => AccountEntity.ref({ workspace_id, id: dialog?.account_id ?? '-' })),
  )
  const seen = new Set(ids.filter((_, i) => accounts[i] && canSeeAccount({ user: { id: viewer } }, accounts[i])))
  return conversations.filter(({ kind, user_id, dialog_id }) => {
    if (kind === 'task') return user_id === undefined || user_id === viewer
    return kind === 'person' ? dialog_id !== undefined && seen.has(dialog_id) : user_id === viewer
  })
}
