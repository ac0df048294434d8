import { fail } from '../../kernel/errors.ts'
import { sameSecret } from '../../kernel/secrets.ts'
import type { Work } from '../deps.ts'
import { heardFrom } from './chats.ts'
import { type Claim, claimUpdate } from './claim.ts'
import { handOn } from './hand-on.ts'
import { answerPress } from './press.ts'
import { type Asked, readUpdate } from './read-update.ts'
import { sayTo } from './reply.ts'
import type { BotUpdateInput } from './schemas.ts'
import { answerStart } from './start.ts'
import { textsFor } from './texts.ts'

/**
 * `POST /console/bot/webhook`: one update of the Bot API, answered once (decisions §3). The bot speaks before the update
 * counts as done, so a request that dies in between says the same again, and none says nothing.
 * @param secret what came as `X-Telegram-Bot-Api-Secret-Token`
 * @throws `unauthorized`; `conflict`, after which the Bot API sends the update again
 */
export const handleUpdate = async (
  given: Work,
  secret: string | undefined,
  update: BotUpdateInput,
): Promise<Record<string, never>> => {
  const credentials = await given.bot.credentials()
  if (!credentials || secret === undefined || !sameSecret(secret, credentials.webhookSecret)) {
    throw fail('unauthorized', {
      message: 'X-Telegram-Bot-Api-Secret-Token is missing or wrong.',
      fix: 'Only the Bot API calls this address; an operator sets it with setWebhook and the bot’s webhook secret.',
    })
  }
  const botId = credentials.token.split(':')[0] as string
  if (await handOn(given, botId, update)) return {}
  const asked = readUpdate(update)
  if (!asked) return {}
  // The address is the Bot API's, not the person's.
  const work: Work = { ...given, sourceIp: undefined }
  const claim = await claimUpdate(work, botId, update.update_id)
  if (!claim) return {}
  try {
    await reply(work, claim, asked)
  } catch (error) {
    // Without it the next try waits for the claim's end; what went wrong is still the answer.
    await claim.release().catch((cause: unknown) => work.log.warn('an update stays claimed', { error: cause }))
    throw error
  }
  await work.commit([claim.done(), heardFrom(work, asked.person)], {})
  return {}
}

const reply = (work: Work, claim: Claim, asked: Asked): Promise<void> => {
  if (asked.kind === 'pressed') return answerPress(work, claim, asked)
  const { chatId, person, start } = asked
  if (start === undefined) return sayTo(work, chatId, textsFor(person.locale).unknown)
  return answerStart(work, chatId, person, start)
}
