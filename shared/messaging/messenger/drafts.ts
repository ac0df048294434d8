import type { Deps } from '#shared/foundation/work/index.ts'
import { type AccountViewer, listVisibleAccounts, ThreadEntity } from '#shared/work/threads/index.ts'
import { DraftEntity, type ThreadMessage, ThreadMessageEntity } from './entity.ts'

/** Newest drafts among which those that wait are looked for. */
const LOOKED_AT = 200

/** Lists the drafts that a person may decide, newest first. */
export const listDrafts = async (
  deps: Pick<Deps, 'table'>,
  asker: AccountViewer,
): Promise<(ThreadMessage & { thread_id: string })[]> => {
  const { table } = deps
  const workspace_id = asker.workspace.id
  const { items } = await table.query(DraftEntity, { workspace_id }, { limit: LOOKED_AT })
  if (items.length === 0) return []
  const [messages, threads, accounts] = await Promise.all([
    table.getAll(items.map(({ conversation_id, message_id: id }) => ThreadMessageEntity.ref({ conversation_id, id }))),
    table.getAll(items.map(({ thread_id: id }) => ThreadEntity.ref({ workspace_id, id }))),
    listVisibleAccounts(deps, asker),
  ])
  const visible = new Set(accounts.map(({ id }) => id))
  return items.flatMap(({ thread_id }, i) => {
    const [message, thread] = [messages[i], threads[i]]
    return message?.status === 'draft' && thread && visible.has(thread.account_id) ? [{ ...message, thread_id }] : []
  })
}
