import type { Work } from '#shared/foundation/work/index.ts'
import { isMembership, isStillGiven, MemberEntity, type User } from '#shared/identity/people/index.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { ifUnchanged, type Write } from '#shared/table/entity.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import { type Account, AccountEntity, accountsOf } from '#shared/work/threads/index.ts'
import { disconnectWrites } from './disconnect.ts'
import { TelegramPersonEntity } from './entity.ts'
import { releasePersonWrites, removalWrites } from './remove.ts'

/**
 * Handles a person's account when they leave a workspace. A private account is removed with its threads, which only
 * they could see. A shared account stays with the workspace but is disconnected. The person can then connect it
 * elsewhere.
 */
const leavingWrites = async (work: Work, account: Account): Promise<Write[]> => {
  if (account.status === 'removing') return []
  if (!account.shared) return removalWrites(work, account)
  const { telegram_id, id, status } = account
  return [
    ...(status === 'disconnected' ? [] : await disconnectWrites(work, account, 'left_workspace')),
    ...(await releasePersonWrites(work, telegram_id, id)),
  ]
}

/** Returns {@link leavingWrites} for the account that a leaving member connected in the workspace, if any. */
export const memberLeavesWrites = async (
  work: Work,
  workspace_id: string,
  user: User | undefined,
): Promise<Write[]> => {
  const [, digits] = /^telegram:(\d+)$/.exec(user?.identity ?? '') ?? []
  if (digits === undefined) return []
  const person = await work.table.get(TelegramPersonEntity, { telegram_id: Number(digits) })
  if (person?.workspace_id !== workspace_id || person.account_id === undefined) return []
  const account = await work.table.get(AccountEntity, { workspace_id, id: person.account_id })
  return account && account.user_id === user?.id ? leavingWrites(work, account) : []
}

/** Loads an account, unless it is a personal one whose membership has ended: that is ended, too. */
export const loadCurrentAccount = async (
  work: Work,
  workspace_id: string,
  id: string,
): Promise<Account | undefined> => {
  const account = await work.table.get(AccountEntity, { workspace_id, id })
  return account && (await endWithMembership(work, account)) ? undefined : account
}

/**
 * Ends a personal account whose person is no longer in the membership in which they connected it. Leaving ends it at once,
 * but a membership in a sandbox may also end with the key or teammate that gave it, and then nothing is written.
 * @returns true if the membership has ended
 */
const endWithMembership = async (work: Work, account: Account): Promise<boolean> => {
  const { kind, workspace_id, user_id = '', member_since } = account
  if (kind !== 'user') return false
  const member = await work.table.get(MemberEntity, { workspace_id, user_id })
  if (isMembership(member, member_since) && (await isStillGiven(work, member))) return false
  const writes = await leavingWrites(work, account)
  // If the account changed in the meantime, its next use ends it.
  if (writes.length > 0) await ifUnchanged(work.commit(writes))
  return true
}

/** Removes every account that a deleted person connected in a workspace, including older ones. */
export const removeAccountsOf = async (work: Work, workspace_id: string, user_id: string): Promise<void> => {
  for (const owner of [accountsOf(workspace_id, user_id), accountsOf(workspace_id)]) {
    const { items } = await work.table.listed(AccountEntity, owner, { limit: LIMITS.messengerAccounts })
    for (const listed of items) {
      if (listed.user_id !== user_id) continue
      await retryOnConflict(async () => {
        const account = await work.table.get(AccountEntity, listed)
        if (account && account.status !== 'removing') await work.commit(await removalWrites(work, account))
      })
    }
  }
}
