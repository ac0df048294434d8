import { randomBytes } from 'node:crypto'
import { createTelegramBot } from '#shared/adapters/telegram.ts'
import { systemClock } from '#shared/kernel/clock.ts'
import type { Bot, BotAnswer } from '#shared/kernel/ports/bot.ts'
import { OperatorError } from '../command.ts'
import { type BotSecret, readBotSecret, type SecretStore, TOKEN, writeBotSecret } from './secret.ts'

export interface Connection {
  /** Store of the token and the webhook secret. */
  secret: SecretStore
  /** Base address of the platform. */
  baseUrl: string
  /** Server of the Bot API. */
  apiUrl: string
  /** Token from BotFather. Default: the stored one. */
  token?: string | undefined
  /** Creates a new webhook secret. */
  rotate?: boolean
  /** Takes over a bot that is new here even if it sends its updates elsewhere. */
  takeOver?: boolean
}

/** Result of connecting a bot. */
export interface Connected {
  username: string
  webhookUrl: string
  /** Previous address of the webhook, if it was different. */
  movedFrom: string | undefined
  /** True if the token differed from the stored one. */
  tokenStored: boolean
  secretRotated: boolean
  /** Bot that was connected before, if it was a different one. */
  replaced: string | undefined
  /** Telegram's last error about the webhook. */
  lastError: string | undefined
}

/** Kinds of updates that the bot handles. */
const UPDATES = [
  'message',
  'callback_query',
  'business_connection',
  'business_message',
  'edited_business_message',
  'deleted_business_messages',
] as const

/** Commands in the bot's menu. */
const COMMANDS = [
  { command: 'inbox', description: 'What waits for you' },
  { command: 'start', description: 'What this bot is for' },
]

/**
 * Connects a Telegram bot to the platform: checks its token, stores it, and points its updates to the platform. Running it again
 * changes nothing, or completes a partial run.
 *
 * The secret is stored before Telegram gets it. Functions with the old secret refuse updates for the few minutes until they read it
 * again, and Telegram repeats refused updates.
 *
 * @throws {OperatorError} if there is no token, Telegram doesn't know it, another stage has the bot, or the webhook is refused
 */
export async function connectBot(given: Connection): Promise<Connected> {
  const { secret, baseUrl, apiUrl, token, rotate = false, takeOver = false } = given
  const kept = await readBotSecret(secret)
  const chosen = token ?? kept.token
  if (chosen === '') {
    throw new OperatorError(
      'No token is stored yet. Give the one from @BotFather: --token-file <file>, or on standard input.',
    )
  }
  if (!TOKEN.test(chosen)) {
    throw new OperatorError(
      'That isn’t the token of a bot. Copy it from @BotFather (/mybots, API Token): it looks like 123456789:AbC….',
    )
  }
  const bot = botOf(chosen, apiUrl)
  const { username } = explain(await bot.me(), apiUrl)
  const webhookUrl = `${baseUrl}/console/bot/webhook`
  const { url: before = '' } = explain(await webhookOf(bot), apiUrl)
  const movedFrom = before === '' || before === webhookUrl ? undefined : before
  const known = idOf(kept.token) === idOf(chosen)
  // A bot that is known here has moved with the base address.
  if (movedFrom !== undefined && !known && !takeOver) {
    throw new OperatorError(
      `@${username} sends its updates to ${movedFrom}: another stage has it. Is --stage right? Give --take-over to move it here.`,
    )
  }
  const other = kept.token !== '' && !known
  // The previous bot knows the secret, and its updates must not pass for those of the new one.
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

/** Creates a webhook secret like the one in the template: letters and digits, ≥ 256 bits. */
const newWebhookSecret = (): string => randomBytes(32).toString('hex')

const idOf = (token: string): string => token.slice(0, token.indexOf(':'))

const botOf = (token: string, apiUrl: string): Bot =>
  createTelegramBot({ credentials: async () => ({ token, webhookSecret: '' }), apiUrl, clock: systemClock })

/** Reads the webhook's state. The call has no payload. */
const webhookOf = (bot: Bot) => bot.call('getWebhookInfo', undefined as never)

/**
 * Disconnects the previous bot. That isn't needed if its token has been revoked.
 *
 * @returns undefined if the bot doesn't send its updates here, because another stage has it by now
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
      `Telegram doesn’t know this token (${description}). Copy it again from @BotFather: /mybots, API Token.`,
    )
  }
  if (status === undefined) throw new OperatorError(`${apiUrl} doesn’t answer (${description}). Try again.`)
  throw new OperatorError(`Telegram refused the request (${description}).`)
}
