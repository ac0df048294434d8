import { emitEvent } from '#shared/foundation/outbox/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { atLeast, type Member, roleCheck } from '#shared/identity/people/index.ts'
import { MINUTE } from '#shared/kernel/clock.ts'
import { fail } from '#shared/kernel/errors.ts'
import { auditPerson } from '#shared/staff/audit/index.ts'
import type { Write } from '#shared/table/entity.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import {
  type Account,
  AccountEntity,
  type AccountViewer,
  loadAccount,
  uncountSharedAccount,
} from '#shared/work/threads/index.ts'
import { TelegramPersonEntity } from './entity.ts'
import type { MessengerEventType } from './events.ts'

/**
 * Starts disconnecting an account. It is hidden and stops sending at once; a worker removes the rest.
 * @throws `not_found`; `admin_required`
 */
export const removeAccount = (work: Work, asker: AccountViewer & { member: Member }, id: string): Promise<void> =>
  retryOnConflict(async () => {
    const account = await loadAccount(work, asker, id)
    if (account.user_id !== asker.user.id && !atLeast(asker.member.role, 'admin')) {
      throw fail('admin_required', {
        message: 'Disconnecting another person’s account requires the role admin.',
        fix: 'Ask an admin of the workspace or the account’s owner to disconnect it.',
      })
    }
    const { workspace_id } = account
    await work.commit([
      ...(await removalWrites(work, account)),
      ...(account.user_id === asker.user.id ? [] : [roleCheck(asker.member, 'admin')]),
      auditPerson(
        work,
        { workspaceId: workspace_id, userId: asker.user.id },
        'messenger.account_disconnected',
        { type: 'messenger_account', id },
        { kind: account.kind },
      ),
    ])
  })

/**
 * Marks an account for removal. The bot stays claimed until its webhook is deleted, so that a new account's webhook
 * isn't deleted by mistake.
 */
export const removalWrites = async (work: Work, account: Account): Promise<Write[]> => {
  const { id, workspace_id, telegram_id } = account
  const now = work.clock.now()
  return [
    AccountEntity.update(
      account,
      { set: { status: 'removing', tries: undefined, due_at: now + MINUTE, updated_at: now }, list: null },
      // Both determine how the account is counted.
      { where: { status: account.status, shared: account.shared } },
    ),
    ...(account.shared ? [uncountSharedAccount(workspace_id)] : []),
    ...(account.kind === 'user' ? await releasePersonWrites(work, telegram_id, id) : []),
    emitEvent<MessengerEventType>(work.clock, {
      type: 'messenger.account',
      workspace_id,
      data: { workspace_id, account_id: id },
    }),
  ]
}

/**
 * Allows the person to connect their account again. Their Business connection stays known. Does nothing if they have
 * connected the account elsewhere since.
 */
export const releasePersonWrites = async (
  { table }: Work,
  telegram_id: number,
  account_id: string,
): Promise<Write[]> => {
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
