import { randomBytes } from 'node:crypto'
import { createTelegramBot } from '#shared/adapters/telegram.ts'
import type { Bot, BotAnswer } from '#shared/domain/ports.ts'
import { systemClock } from '#shared/kernel/clock.ts'
import { OperatorError } from '../operator/command.ts'
import { type BotSecret, readBotSecret, type SecretStore, TOKEN, writeBotSecret } from './secret.ts'

export interface Connection {
  /** Where token and webhook secret are kept. */
  secret: SecretStore
  /** The platform's base address. */
  baseUrl: string
  /** The Bot API's server. */
  apiUrl: string
  /** From BotFather; without it the one that is kept. */
  token?: string | undefined
  /** Make a new webhook secret. */
  rotate?: boolean
  /** Take a bot that is new here, even if it sends its updates elsewhere. */
  takeOver?: boolean
}

/** What was done. */
export interface Connected {
  username: string
  webhookUrl: string
  /** Where they went until now, when that was elsewhere. */
  movedFrom: string | undefined
  /** The token was another than the one kept. */
  tokenStored: boolean
  secretRotated: boolean
  /** The bot that was connected before, when it is another one. */
  replaced: string | undefined
  /** What Telegram last had to say against the webhook. */
  lastError: string | undefined
}

/** The kinds of updates that the bot handles. */
const UPDATES = [
  'message',
  'callback_query',
  'business_connection',
  'business_message',
  'edited_business_message',
  'deleted_business_messages',
] as const

/** What people see in the bot's menu. */
const COMMANDS = [{ command: 'start', description: 'What this bot is for' }]

/**
 * Makes a bot of Telegram's the platform's own: checks its token, keeps it, and points its updates to the platform. Doing it again
 * changes nothing; done half, it is mended by doing it again.
 *
 * The secret is written before Telegram learns it: functions that still know the one before refuse updates for the few minutes
 * until they read it again, and Telegram repeats what was refused.
 *
 * @throws {OperatorError} if there is no token, Telegram does not know it, another stage has the bot, or the webhook is refused
 */
export async function connectBot(given: Connection): Promise<Connected> {
  const { secret, baseUrl, apiUrl, token, rotate = false, takeOver = false } = given
  const kept = await readBotSecret(secret)
  const chosen = token ?? kept.token
  if (chosen === '') {
    throw new OperatorError(
      'No token is kept yet. Give the one from @BotFather: --token-file <file>, or on standard input.',
    )
  }
  if (!TOKEN.test(chosen)) {
    throw new OperatorError('That is no token of a bot. @BotFather gives them as 123456789:AbC… (/mybots, API Token).')
  }
  const bot = botOf(chosen, apiUrl)
  const { username } = explain(await bot.me(), apiUrl)
  const webhookUrl = `${baseUrl}/console/bot/webhook`
  const { url: before = '' } = explain(await webhookOf(bot), apiUrl)
  const movedFrom = before === '' || before === webhookUrl ? undefined : before
  const known = idOf(kept.token) === idOf(chosen)
  // One that is known here has moved with the base address.
  if (movedFrom !== undefined && !known && !takeOver) {
    throw new OperatorError(
      `@${username} sends its updates to ${movedFrom}: another stage has it. Is --stage right? Give --take-over to move it here.`,
    )
  }
  const other = kept.token !== '' && !known
  // The bot before knows the secret: what it sends must not pass for this one's.
  const secretRotated = rotate || other
  const next = { ...kept, token: chosen, ...(secretRotated && { webhook_secret: newWebhookSecret() }) }
  if (secretRotated || chosen !== kept.token) await writeBotSecret(secret, next)
  const replaced = other ? await disconnect(kept, { apiUrl, webhookUrl }) : undefined

  const { webhook_secret: secret_token } = next
  explain(await bot.call('setWebhook', { url: webhookUrl, secret_token, allowed_updates: UPDATES }), apiUrl)
  explain(await bot.call('setMyCommands', { commands: COMMANDS }), apiUrl)
  const menu_button = { type: 'web_app' as const, text: 'Console', web_app: { url: `${baseUrl}/app/mini-app` } }
  explain(await bot.call('setChatMenuButton', { menu_button }), apiUrl)
  const { last_error_message: lastError } = explain(await webhookOf(bot), apiUrl)
  return { username, webhookUrl, movedFrom, tokenStored: chosen !== kept.token, secretRotated, replaced, lastError }
}

/** As the secret's template makes it: letters and digits, ≥ 256 bits. */
const newWebhookSecret = (): string => randomBytes(32).toString('hex')

const idOf = (token: string): string => token.slice(0, token.indexOf(':'))

const botOf = (token: string, apiUrl: string): Bot =>
  createTelegramBot({ credentials: async () => ({ token, webhookSecret: '' }), apiUrl, clock: systemClock })

/** The client takes no payload for it. */
const webhookOf = (bot: Bot) => bot.call('getWebhookInfo', undefined as never)

/**
 * The bot before is told no more; if its token is void by now, it need not be.
 *
 * @returns undefined when it does not send its updates here: then another stage has it by now
 */
async function disconnect(
  { token }: BotSecret,
  { apiUrl, webhookUrl }: { apiUrl: string; webhookUrl: string },
): Promise<string | undefined> {
  const bot = botOf(token, apiUrl)
  const [known, webhook] = await Promise.all([bot.me(), webhookOf(bot)])
  if (webhook.ok && webhook.result.url !== webhookUrl) return undefined
  if (webhook.ok) await bot.call('deleteWebhook', {})
  return known.ok ? `@${known.result.username}` : `bot ${idOf(token)}`
}

function explain<T>(answer: BotAnswer<T>, apiUrl: string): T {
  if (answer.ok) return answer.result
  const { status, description } = answer
  if (status === 401 || status === 404) {
    throw new OperatorError(
      `Telegram does not know this token (${description}). Copy it again from @BotFather: /mybots, API Token.`,
    )
  }
  if (status === undefined) throw new OperatorError(`${apiUrl} does not answer (${description}). Try again.`)
  throw new OperatorError(`Telegram refuses (${description}).`)
}
