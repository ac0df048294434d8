import {
  type Account,
  AccountEntity,
  type Dialog,
  DialogEntity,
  type DialogMessage,
  DialogMessageEntity,
  dialogPlace,
  dialogsOf,
} from '../../entities/messenger.ts'
import { fail } from '../../kernel/errors.ts'
import { isId } from '../../kernel/ids.ts'
import type { Page, QueryOptions } from '../../table/table.ts'
import { fittingPage, textBytes } from '../answer-size.ts'
import type { Deps } from '../deps.ts'
import { type Asker, accountOf, seenAccounts, sees } from './accounts.ts'

type Paging = Pick<QueryOptions, 'limit' | 'after'>

/** A chat, with the account that it belongs to. */
export interface Chat {
  account: Account
  dialog: Dialog
}

/**
 * The chats that a member sees, the latest spoken in first: merged from the accounts that they see, of which there are few.
 * @throws `not_found` for an account that they do not see
 */
export const listChats = async (
  deps: Pick<Deps, 'table'>,
  asker: Asker,
  accountId: string | undefined,
  { limit, after }: Paging,
): Promise<Page<Chat>> => {
  const accounts = accountId === undefined ? await seenAccounts(deps, asker) : [await accountOf(deps, asker, accountId)]
  const pages = await Promise.all(
    accounts.map(async (account) => {
      const { items, next } = await deps.table.listed(DialogEntity, dialogsOf(account.id), { limit, after })
      return { items: items.map((dialog) => ({ account, dialog })), next }
    }),
  )
  const sort = ({ dialog }: Chat): string => dialogPlace(dialog).sort
  const all = pages.flatMap(({ items }) => items).sort((a, b) => (sort(a) < sort(b) ? 1 : -1))
  const items = all.slice(0, limit)
  const last = items.at(-1)
  const more = all.length > items.length || pages.some(({ next }) => next !== undefined)
  return { items, next: more && last ? sort(last) : undefined }
}

/** @throws `not_found` also for a chat of somebody else's personal account */
export const chatOf = async (deps: Pick<Deps, 'table'>, asker: Asker, id: string): Promise<Chat> => {
  const workspace_id = asker.workspace.id
  const dialog = isId('dialog', id) ? await deps.table.get(DialogEntity, { workspace_id, id }) : undefined
  if (!dialog) throw noChat()
  const account = await deps.table.get(AccountEntity, { workspace_id, id: dialog.account_id })
  if (!account || !sees(asker, account)) throw noChat()
  return { dialog, account }
}

const noChat = () => fail('not_found', { message: 'There is no such chat.' })

/** A chat's messages, newest first. */
export const chatMessages = async (
  { table }: Pick<Deps, 'table'>,
  { conversation_id }: Dialog,
  options: Paging,
): Promise<Page<DialogMessage>> =>
  fittingPage(
    await table.query(DialogMessageEntity, { conversation_id }, options),
    ({ text }) => textBytes(text),
    (message) => DialogMessageEntity.key(message).sk,
  )
