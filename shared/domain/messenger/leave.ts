import { type Account, AccountEntity, accountsOf, TelegramPersonEntity } from '../../entities/messenger.ts'
import type { User } from '../../entities/people.ts'
import { LIMITS } from '../../kernel/limits.ts'
import type { Write } from '../../table/entity.ts'
import type { Work } from '../deps.ts'
import { tryAgain } from '../try-again.ts'
import { disconnectWrites } from './disconnect.ts'
import { forgetPerson, removalWrites } from './remove.ts'

/**
 * What becomes of a person's account in a workspace that they leave: its chats, which nobody else ever saw, go with it; a
 * shared one stays with the workspace, and nothing comes in or goes out any more. The person is free to connect elsewhere.
 */
const leavingWrites = async (work: Work, account: Account): Promise<Write[]> => {
  if (account.status === 'removing') return []
  if (!account.shared) return removalWrites(work, account)
  const { telegram_id, id, status } = account
  return [
    ...(status === 'disconnected' ? [] : await disconnectWrites(work, account, 'left_workspace')),
    ...(await forgetPerson(work, telegram_id, id)),
  ]
}

/** {@link leavingWrites} of the account that somebody connected in a workspace, if they did. */
export const memberLeaves = async (work: Work, workspace_id: string, user: User | undefined): Promise<Write[]> => {
  const [, digits] = /^telegram:(\d+)$/.exec(user?.identity ?? '') ?? []
  if (digits === undefined) return []
  const person = await work.table.get(TelegramPersonEntity, { telegram_id: Number(digits) })
  if (person?.workspace_id !== workspace_id || person.account_id === undefined) return []
  const account = await work.table.get(AccountEntity, { workspace_id, id: person.account_id })
  return account && account.user_id === user?.id ? leavingWrites(work, account) : []
}

/** Removes what somebody who is gone for good had connected in a workspace: one account, or older ones beside it. */
export const removeAccountsOf = async (work: Work, workspace_id: string, user_id: string): Promise<void> => {
  for (const owner of [accountsOf(workspace_id, user_id), accountsOf(workspace_id)]) {
    const { items } = await work.table.listed(AccountEntity, owner, { limit: LIMITS.messengerAccounts })
    for (const listed of items) {
      if (listed.user_id !== user_id) continue
      await tryAgain(async () => {
        const account = await work.table.get(AccountEntity, listed)
        if (account && account.status !== 'removing') await work.commit(await removalWrites(work, account))
      })
    }
  }
}
