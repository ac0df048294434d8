import type { Conversation } from '../../entities/conversations.ts'
import { type Account, AccountEntity, type Dialog, DialogEntity } from '../../entities/messenger.ts'
import type { Deps } from '../deps.ts'
import { sees } from '../messenger/accounts.ts'

/**
 * Of an agent's conversations those that a person of the workspace sees in the console, too: their own chats, the tasks, and
 * the messenger chats of the accounts that they see. Two reads, however many.
 */
export const shownToPerson = async (
  { table }: Pick<Deps, 'table'>,
  workspace_id: string,
  viewer: string,
  conversations: readonly Conversation[],
): Promise<Conversation[]> => {
  const ids = conversations.flatMap(({ dialog_id }) => dialog_id ?? [])
  const dialogs = (await table.getAll(
    ids.map((id) => ({ entity: DialogEntity, key: DialogEntity.key({ workspace_id, id }) })),
  )) as (Dialog | undefined)[]
  const accounts = (await table.getAll(
    dialogs.map((dialog) => ({
      entity: AccountEntity,
      key: AccountEntity.key({ workspace_id, id: dialog?.account_id ?? '-' }),
    })),
  )) as (Account | undefined)[]
  const seen = new Set(ids.filter((_, i) => accounts[i] && sees({ user: { id: viewer } }, accounts[i])))
  return conversations.filter(({ kind, user_id, dialog_id }) => {
    if (kind === 'task') return true
    return kind === 'person' ? dialog_id !== undefined && seen.has(dialog_id) : user_id === viewer
  })
}
