import { AccountEntity, accountPlace } from '../../entities/messenger.ts'
import { fail } from '../../kernel/errors.ts'
import { auditPerson } from '../audit/write.ts'
import type { Work } from '../deps.ts'
import { tryAgain } from '../try-again.ts'
import { type Asker, accountOf, oneSharedLess, oneSharedMore } from './accounts.ts'
import { presentAccount } from './present.ts'
import type { AccountView } from './schemas.ts'

/**
 * Lets the workspace see a personal account's chats, or no longer.
 * @throws `not_found`; `conflict` for a bot; `forbidden` for somebody else's account
 */
export const shareAccount = (work: Work, asker: Asker, id: string, shared: boolean): Promise<AccountView> =>
  tryAgain(async () => {
    const account = await accountOf(work, asker, id)
    if (account.kind === 'bot') {
      throw fail('conflict', { message: 'A bot’s chats are always the whole workspace’s.', fix: 'Leave it as it is.' })
    }
    if (account.user_id !== asker.user.id) {
      throw fail('forbidden', {
        message: 'Only the person whose account it is shares it.',
        fix: 'Ask them.',
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
        shared ? oneSharedMore(workspace_id) : oneSharedLess(workspace_id),
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
