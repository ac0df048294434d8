import type { Work } from '#shared/foundation/work/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { auditPerson } from '#shared/staff/audit/index.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import {
  AccountEntity,
  type AccountViewer,
  accountPlace,
  countSharedAccount,
  loadAccount,
  uncountSharedAccount,
} from '#shared/work/threads/index.ts'
import { presentAccount } from './present.ts'
import type { AccountView } from './schemas.ts'

/**
 * Shares a personal account's threads with the workspace, or stops sharing them.
 * @throws `not_found`; `conflict` for a bot; `forbidden` for another person's account
 */
export const shareAccount = (work: Work, asker: AccountViewer, id: string, shared: boolean): Promise<AccountView> =>
  retryOnConflict(async () => {
    const account = await loadAccount(work, asker, id)
    if (account.kind === 'bot') {
      throw fail('conflict', {
        message: 'A bot’s threads are always shared with the workspace.',
        fix: 'Send this request for personal accounts only.',
      })
    }
    if (account.user_id !== asker.user.id) {
      throw fail('forbidden', {
        message: 'Only the account’s owner can change whether it is shared.',
        fix: 'Ask the account’s owner to change it.',
      })
    }
    const changed = { ...account, shared, updated_at: work.clock.now() }
    const view = presentAccount(changed)
    if (account.shared === shared) {
      await work.commit([], view)
      return view
    }
    const { workspace_id } = account
    await work.commit(
      [
        AccountEntity.update(
          account,
          { set: { shared, updated_at: changed.updated_at }, list: accountPlace(changed) },
          { where: { shared: account.shared, status: account.status } },
        ),
        shared ? countSharedAccount(workspace_id) : uncountSharedAccount(workspace_id),
        auditPerson(
          work,
          { workspaceId: workspace_id, userId: asker.user.id },
          shared ? 'messenger.account_shared' : 'messenger.account_unshared',
          { type: 'messenger_account', id },
        ),
      ],
      view,
    )
    return view
  })
