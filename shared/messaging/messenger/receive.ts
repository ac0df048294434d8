import type * as z from 'zod'
import type { Work } from '#shared/foundation/work/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { sameSecret, sha256 } from '#shared/kernel/secrets.ts'
import { AccountEntity } from '#shared/work/threads/index.ts'
import { BotUpdateEntity } from '../bot/entity.ts'
import { answeredUpdate } from '../bot/update-lease.ts'
import { AccountWebhookEntity } from './entity.ts'
import { ingestUpdate, oncePerUpdate } from './ingest.ts'
import { readMessage } from './read-update.ts'
import type { AccountUpdate } from './schemas.ts'

/**
 * Receives an update of a customer's bot and stores its content once.
 * @param secret value of `X-Telegram-Bot-Api-Secret-Token`
 * @throws `unauthorized`, also for an unknown account
 */
export const receiveUpdate = async (
  work: Work,
  account_id: string,
  secret: string | undefined,
  update: z.infer<ReturnType<typeof AccountUpdate>>,
): Promise<Record<string, never>> => {
  const webhook = secret === undefined ? undefined : await work.table.get(AccountWebhookEntity, { account_id })
  // Compares even without a record, so that both cases take equally long.
  const known = sameSecret(sha256(secret ?? ''), webhook?.secret_hash ?? '')
  if (!webhook || !known) {
    throw fail('unauthorized', {
      message: 'X-Telegram-Bot-Api-Secret-Token is missing or wrong, or the bot isn’t connected.',
      fix: 'Don’t call this address yourself. The Bot API calls it for connected bots.',
    })
  }
  const { workspace_id } = webhook
  const received = readMessage(update.message ?? update.edited_message, update.message === undefined)
  if (!received) return {}
  const account = await work.table.get(AccountEntity, { workspace_id, id: account_id })
  // `connecting`: the webhook already works, but the record isn't updated yet.
  if (account?.status === 'connecting') {
    throw fail('conflict', {
      message: 'The account is still being connected.',
      fix: 'Send the update again after Retry-After seconds.',
      headers: { 'retry-after': '1' },
    })
  }
  if (account?.status !== 'active') return {}
  // The source address is the Bot API's, not the person's.
  const taken = BotUpdateEntity.create(answeredUpdate(work, String(account.telegram_id), update.update_id))
  await ingestUpdate({ ...work, sourceIp: undefined }, account, received, [oncePerUpdate(taken)])
  return {}
}
