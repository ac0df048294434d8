import type { Work } from '#shared/foundation/work/index.ts'
import { newNotification } from '#shared/identity/notifications/index.ts'
import { atLeast, MemberEntity } from '#shared/identity/people/index.ts'
import { type Message, msg } from '#shared/kernel/messages.ts'
import { quoteName } from '#shared/kernel/names.ts'
import { auditEntry } from '#shared/staff/audit/index.ts'
import { ifUnchanged, type Write } from '#shared/table/entity.ts'
import { type Account, AccountEntity } from '#shared/work/threads/index.ts'
import type { AccountView } from './schemas.ts'

type Reason = NonNullable<AccountView['reason']>

/** Notification texts by reason. */
const REASONS: Record<Reason, Message> = {
  token_revoked: msg('Telegram no longer accepts the bot’s token. Connect the bot again with a new token.'),
  webhook_refused: msg('Telegram rejected the bot’s webhook. Connect the bot again.'),
  connection_ended: msg(
    'The account was disconnected in Telegram. To reconnect it, go to Settings > Telegram Business > Chatbots.',
  ),
  left_workspace: msg('The account’s owner left the workspace.'),
}

/** Maximum number of members searched for admins; a workspace has fewer. */
const MEMBERS = 100

/** Maximum number of notified admins, so that the transaction stays within its limit. */
const ADMINS = 20

/** Disconnects an account that stopped working. Nothing is sent anymore, and the people who can fix it are notified. */
export const disconnectWrites = async (work: Work, account: Account, reason: Reason): Promise<Write[]> => {
  const { id, workspace_id, kind, name } = account
  const now = work.clock.now()
  const recipients = await listRecipients(work, account, reason)
  return [
    AccountEntity.update(
      account,
      {
        set: {
          status: 'disconnected',
          reason,
          connection_id: undefined,
          updated_at: now,
          ...(kind === 'user' && { can_reply: false }),
        },
      },
      { where: { status: account.status, updated_at: account.updated_at } },
    ),
    auditEntry(work, {
      scope: workspace_id,
      action: 'messenger.account_lost',
      actor: { type: 'system', id: 'messenger' },
      target: { type: 'messenger_account', id },
      details: { kind, reason },
    }),
    ...recipients.flatMap(
      (user_id) =>
        newNotification(work, {
          workspace_id,
          user_id,
          kind: 'messenger.disconnected',
          title: msg('{account} was disconnected', { account: quoteName(name) }),
          body: REASONS[reason],
          target: { type: 'messenger_account', id },
        }).writes,
    ),
  ]
}

/** Lists the people to notify: a personal account's owner unless they left, or the workspace's admins for a bot. */
const listRecipients = async (
  { table }: Work,
  { kind, user_id, workspace_id }: Account,
  reason: Reason,
): Promise<string[]> => {
  if (reason === 'left_workspace') return []
  if (kind === 'user') return user_id === undefined ? [] : [user_id]
  const { items } = await table.query(MemberEntity, { workspace_id }, { limit: MEMBERS, ascending: true })
  return items
    .filter(({ role }) => atLeast(role, 'admin'))
    .slice(0, ADMINS)
    .map((member) => member.user_id)
}

/** Commits {@link disconnectWrites}, unless the account changed in the meantime. */
export const disconnect = async (work: Work, account: Account, reason: Reason): Promise<void> => {
  await ifUnchanged(work.commit(await disconnectWrites(work, account, reason)))
}
