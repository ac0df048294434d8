import * as z from 'zod'
import { type Account, AccountEntity } from '../../entities/messenger.ts'
import type { Write } from '../../table/entity.ts'
import { auditPerson } from '../audit/write.ts'
import type { Deps, Work } from '../deps.ts'
import { callBotApi, isRevoked } from './bot-api.ts'
import { openCredentials } from './credentials.ts'

/** The kinds of updates that are taken from customers' bots. */
const UPDATES = ['message', 'edited_message']

/** Where an account's updates go. */
export const addressOf = ({ settings }: Pick<Deps, 'settings'>, accountId: string): string =>
  `${settings.baseUrl}/console/messenger/updates/${accountId}`

/**
 * Tells Telegram where a bot's updates go. Doing it again changes nothing.
 * @param write writes what became of the account; of two that do it, the second loses its condition
 */
export const pointWebhook = async <T>(
  work: Work,
  account: Account,
  userId: string,
  write: (writes: Write[], changed: Account) => Promise<T>,
): Promise<T> => {
  const { token, webhookSecret } = await openCredentials(work, account)
  const payload = { url: addressOf(work, account.id), secret_token: webhookSecret, allowed_updates: UPDATES }
  const called = await callBotApi(work, token, 'setWebhook', payload, z.literal(true))
  const later = called.kind !== 'ok' && (called.kind !== 'refused' || called.status === 429)
  // The sweep has it tried again.
  if (later) return write([], account)
  const connected = called.kind === 'ok'
  const changed: Account = {
    ...account,
    status: connected ? 'active' : 'disconnected',
    reason: connected ? undefined : isRevoked(called) ? 'token_revoked' : 'webhook_refused',
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
