import type * as z from 'zod'
import { BotUpdateEntity } from '../../entities/bot.ts'
import { AccountEntity, AccountWebhookEntity } from '../../entities/messenger.ts'
import { fail } from '../../kernel/errors.ts'
import { sameSecret, sha256 } from '../../kernel/secrets.ts'
import { takenUpdate } from '../bot/claim.ts'
import type { Work } from '../deps.ts'
import { readMessage } from './read-update.ts'
import type { AccountUpdate } from './schemas.ts'
import { oncePerUpdate, takeIn } from './take-in.ts'

/**
 * An update of a customer's bot: what it tells of a private chat is taken in once.
 * @param secret what came as `X-Telegram-Bot-Api-Secret-Token`
 * @throws `unauthorized`, also for an account that is not there
 */
export const receiveUpdate = async (
  work: Work,
  account_id: string,
  secret: string | undefined,
  update: z.infer<ReturnType<typeof AccountUpdate>>,
): Promise<Record<string, never>> => {
  const webhook = await work.table.get(AccountWebhookEntity, { account_id })
  // Compared also where there is nothing to compare with, so that both take as long.
  const known = sameSecret(sha256(secret ?? ''), webhook?.secret_hash ?? '')
  if (!webhook || !known) {
    throw fail('unauthorized', {
      message: 'X-Telegram-Bot-Api-Secret-Token is missing or wrong, or the bot is not connected.',
      fix: 'Only the Bot API calls this address, for bots that are connected.',
    })
  }
  const { workspace_id } = webhook
  const news = readMessage(update.message ?? update.edited_message, update.message === undefined)
  if (!news) return {}
  const account = await work.table.get(AccountEntity, { workspace_id, id: account_id })
  // `connecting`: the webhook works already, and the record follows.
  if (account?.status === 'connecting') {
    throw fail('conflict', {
      message: 'The account is being connected.',
      fix: 'Send it again after Retry-After seconds.',
      headers: { 'retry-after': '1' },
    })
  }
  if (account?.status !== 'active') return {}
  // The address is the Bot API's, not the person's.
  const taken = BotUpdateEntity.create(takenUpdate(work, String(account.telegram_id), update.update_id))
  await takeIn({ ...work, sourceIp: undefined }, account, news, [oncePerUpdate(taken)])
  return {}
}
