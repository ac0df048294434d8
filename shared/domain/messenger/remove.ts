import { type Account, AccountEntity, TelegramPersonEntity } from '../../entities/messenger.ts'
import { atLeast, type Member } from '../../entities/people.ts'
import { tell } from '../../events/outbox.ts'
import { MINUTE } from '../../kernel/clock.ts'
import { fail } from '../../kernel/errors.ts'
import type { Write } from '../../table/entity.ts'
import { auditPerson } from '../audit/write.ts'
import type { Work } from '../deps.ts'
import { holdsStill } from '../people/rank.ts'
import { tryAgain } from '../try-again.ts'
import { type Asker, accountOf, oneSharedLess } from './accounts.ts'

/**
 * Disconnects an account. From then on nobody sees it and nothing is sent; a worker does the rest.
 * @throws `not_found`; `admin_required`
 */
export const removeAccount = (work: Work, asker: Asker & { member: Member }, id: string): Promise<void> =>
  tryAgain(async () => {
    const account = await accountOf(work, asker, id)
    if (account.user_id !== asker.user.id && !atLeast(asker.member.role, 'admin')) {
      throw fail('admin_required', {
        message: 'Disconnecting this account needs the role admin.',
        fix: 'Ask an admin of the workspace, or the person whose account it is.',
      })
    }
    const { workspace_id } = account
    await work.commit([
      ...(await removalWrites(work, account)),
      ...(account.user_id === asker.user.id ? [] : [holdsStill(asker.member, 'admin')]),
      auditPerson(
        work,
        { workspaceId: workspace_id, userId: asker.user.id },
        'messenger.account_disconnected',
        { type: 'messenger_account', id },
        { kind: account.kind },
      ),
    ])
  })

/** What begins an account's end. The bot stays claimed until its webhook is off, so that nobody else's is taken off instead. */
export const removalWrites = async (work: Work, account: Account): Promise<Write[]> => {
  const { id, workspace_id, telegram_id } = account
  const now = work.clock.now()
  return [
    AccountEntity.update(
      account,
      { set: { status: 'removing', tries: undefined, due_at: now + MINUTE, updated_at: now }, list: null },
      // What it counts as is decided by both.
      { where: { status: account.status, shared: account.shared } },
    ),
    ...(account.shared ? [oneSharedLess(workspace_id)] : []),
    ...(account.kind === 'user' ? await forgetPerson(work, telegram_id, id) : []),
    tell(work.clock, { type: 'messenger.account', workspace_id, data: { workspace_id, account_id: id } }),
  ]
}

/**
 * The person may connect their account anew; that Telegram tells the platform's bot of them stays known. Nothing where they
 * left, and perhaps connected it elsewhere.
 */
export const forgetPerson = async ({ table }: Work, telegram_id: number, account_id: string): Promise<Write[]> => {
  const known = await table.get(TelegramPersonEntity, { telegram_id })
  if (known?.account_id !== account_id) return []
  const { revision } = known
  return [
    TelegramPersonEntity.update(
      { telegram_id },
      { set: { workspace_id: undefined, account_id: undefined, revision: revision + 1 } },
      { where: { account_id, revision } },
    ),
  ]
}
