import type { InlineKeyboardButton } from 'grammy/types'
import type { Work } from '#shared/foundation/work/index.ts'
import type { TelegramPerson } from '#shared/identity/people/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { sameSecret } from '#shared/kernel/secrets.ts'
import { botChatWrite } from './chats.ts'
import { forwardBusinessUpdate } from './forward-business-update.ts'
import { answerPress } from './press.ts'
import { answerReply } from './questions.ts'
import { type Asked, readUpdate } from './read-update.ts'
import { sendToPerson } from './reply.ts'
import type { BotUpdateInput } from './schemas.ts'
import { answerStart } from './start.ts'
import { textsFor } from './texts.ts'
import { claimUpdate, type UpdateLease } from './update-lease.ts'

/**
 * `POST /console/bot/webhook`: answers one update of the Bot API, once (contract/messenger.md#the-platforms-bot). The
 * bot replies before the update counts as done. A request that dies in between therefore causes a repeated reply rather
 * than none.
 * @param describeWaiting answers `/inbox`
 * @param secret value of `X-Telegram-Bot-Api-Secret-Token`
 * @throws `unauthorized`; `conflict`, after which the Bot API sends the update again
 */
export const handleUpdate = async (
  given: Work,
  secret: string | undefined,
  update: BotUpdateInput,
  describeWaiting: DescribeWaiting,
): Promise<Record<string, never>> => {
  const credentials = secret === undefined ? undefined : await given.bot.credentials()
  if (!credentials || secret === undefined || !sameSecret(secret, credentials.webhookSecret)) {
    throw fail('unauthorized', {
      message: 'X-Telegram-Bot-Api-Secret-Token is missing or wrong.',
      fix: 'Don’t call this address yourself. To configure the Bot API, call setWebhook with the bot’s webhook secret.',
    })
  }
  const botId = credentials.token.split(':')[0] as string
  if (await forwardBusinessUpdate(given, botId, update)) return {}
  const asked = readUpdate(update, botId)
  if (!asked) return {}
  // The source address is the Bot API's, not the person's.
  const work: Work = { ...given, sourceIp: undefined }
  const claim = await claimUpdate(work, botId, update.update_id)
  if (!claim) return {}
  try {
    await reply(work, claim, asked, describeWaiting)
  } catch (error) {
    // If this fails, the next attempt waits until the lease ends. The original error is still the one to report.
    await claim.release().catch((cause: unknown) => work.log.warn('could not release an update', { error: cause }))
    throw error
  }
  await work.commit([claim.done(), botChatWrite(work, asked.person)], {})
  return {}
}

/** Describes what waits for a person. A later noun does it, which knows all that can wait. */
export type DescribeWaiting = (
  work: Work,
  person: TelegramPerson,
) => Promise<{ text: string; buttons: InlineKeyboardButton[][] }>

const INBOX = /^\/inbox(?:@\w+)? *$/

const reply = async (work: Work, claim: UpdateLease, asked: Asked, describeWaiting: DescribeWaiting): Promise<void> => {
  if (asked.kind === 'pressed') return answerPress(work, claim, asked)
  const { chatId, person, start, repliedTo } = asked
  if (start !== undefined) return answerStart(work, chatId, person, start)
  if (INBOX.test(asked.text)) {
    const { text, buttons } = await describeWaiting(work, person)
    return sendToPerson(work, chatId, text, buttons.length > 0 ? { inline_keyboard: buttons } : undefined)
  }
  if (repliedTo) return answerReply(work, claim, { ...asked, repliedTo })
  return sendToPerson(work, chatId, textsFor(person.locale).unknown)
}
