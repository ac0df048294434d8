import { cutPageToResponseSize, textBytes } from '#shared/foundation/payloads/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { isId } from '#shared/kernel/ids.ts'
import type { Page, QueryOptions } from '#shared/table/table.ts'
import {
  type Account,
  AccountEntity,
  type AccountViewer,
  canSeeAccount,
  listVisibleAccounts,
  loadAccount,
  type Thread,
  ThreadEntity,
  threadPlace,
  threadsOf,
} from '#shared/work/threads/index.ts'
import { type ThreadMessage, ThreadMessageEntity } from './entity.ts'

type Paging = Pick<QueryOptions, 'limit' | 'after'>

/** A thread, with its account. */
export interface ThreadWithAccount {
  account: Account
  thread: Thread
}

/**
 * Lists the threads that a member can see, most recent first. They are merged from the member's few visible accounts.
 * @throws `not_found` for an account that they can't see
 */
export const listThreads = async (
  deps: Pick<Deps, 'table'>,
  asker: AccountViewer,
  accountId: string | undefined,
  { limit, after }: Paging,
): Promise<Page<ThreadWithAccount>> => {
  const accounts =
    accountId === undefined ? await listVisibleAccounts(deps, asker) : [await loadAccount(deps, asker, accountId)]
  const pages = await Promise.all(
    accounts.map(async (account) => {
      const { items, next } = await deps.table.listed(ThreadEntity, threadsOf(account.id), { limit, after })
      return { items: items.map((thread) => ({ account, thread })), next }
    }),
  )
  const sort = ({ thread }: ThreadWithAccount): string => threadPlace(thread).sort
  const all = pages.flatMap(({ items }) => items).sort((a, b) => (sort(a) < sort(b) ? 1 : -1))
  const items = all.slice(0, limit)
  const last = items.at(-1)
  const more = all.length > items.length || pages.some(({ next }) => next !== undefined)
  return { items, next: more && last ? sort(last) : undefined }
}

/** Loads a thread. @throws `not_found`, also for a thread of someone else's personal account */
export const loadThread = async (
  deps: Pick<Deps, 'table'>,
  asker: AccountViewer,
  id: string,
): Promise<ThreadWithAccount> => {
  const workspace_id = asker.workspace.id
  const thread = isId('thread', id) ? await deps.table.get(ThreadEntity, { workspace_id, id }) : undefined
  if (!thread) throw noChat()
  const account = await deps.table.get(AccountEntity, { workspace_id, id: thread.account_id })
  if (!account || !canSeeAccount(asker, account)) throw noChat()
  return { thread, account }
}

const noChat = () => fail('not_found', { message: 'Thread not found, or you don’t have access to it.' })

/** Lists a thread's messages, newest first. */
export const listThreadMessages = async (
  { table }: Pick<Deps, 'table'>,
  { conversation_id }: Thread,
  options: Paging,
): Promise<Page<ThreadMessage>> =>
  cutPageToResponseSize(
    await table.query(ThreadMessageEntity, { conversation_id }, options),
    ({ text }) => textBytes(text),
    (message) => ThreadMessageEntity.key(message).sk,
  )
