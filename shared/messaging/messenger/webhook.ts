import * as z from 'zod'
import type { Deps, Work } from '#shared/foundation/work/index.ts'
import { auditPerson } from '#shared/staff/audit/index.ts'
import type { Write } from '#shared/table/entity.ts'
import { type Account, AccountEntity } from '#shared/work/threads/index.ts'
import { callBotApi, isTokenRejected } from './bot-api.ts'
import { openCredentials } from './credentials.ts'

/** Kinds of updates received from customers' bots. */
const UPDATES = ['message', 'edited_message']

/** Returns the URL that receives an account's updates. */
export const webhookUrl = ({ settings }: Pick<Deps, 'settings'>, accountId: string): string =>
  `${settings.baseUrl}/console/messenger/updates/${accountId}`

/**
 * Sets a bot's webhook at Telegram. Idempotent.
 * @param write commits the account's new state; of two concurrent calls, the second fails its condition
 */
export const setWebhook = async <T>(
  work: Work,
  account: Account,
  userId: string,
  write: (writes: Write[], changed: Account) => Promise<T>,
): Promise<T> => {
  const { token, webhookSecret } = await openCredentials(work, account)
  const payload = { url: webhookUrl(work, account.id), secret_token: webhookSecret, allowed_updates: UPDATES }
  const called = await callBotApi(work, token, 'setWebhook', payload, z.literal(true))
  const later = called.kind !== 'ok' && (called.kind !== 'refused' || called.status === 429)
  // The sweeper schedules another attempt.
  if (later) return write([], account)
  const connected = called.kind === 'ok'
  const changed: Account = {
    ...account,
    status: connected ? 'active' : 'disconnected',
    reason: connected ? undefined : isTokenRejected(called) ? 'token_revoked' : 'webhook_refused',
    due_at: undefined,
    tries: undefined,
    updated_at: work.clock.now(),
  }
  const { status, reason, due_at, tries, updated_at } = changed
  if (!connected) work.log.warn('a webhook was refused', { account_id: account.id, reason: called.description })
  return write(
    [
      AccountEntity.update(
        account,
        { set: { status, reason, due_at, tries, updated_at } },
        { where: { status: 'connecting', updated_at: account.updated_at } },
      ),
      auditPerson(
        work,
        { workspaceId: account.workspace_id, userId },
        connected ? 'messenger.account_connected' : 'messenger.account_refused',
        { type: 'messenger_account', id: account.id },
        { kind: 'bot' },
      ),
    ],
    changed,
  )
}
