import type { SecretStore } from '#ops/telegram/secret.ts'
import type { Secrets } from '../aws/secrets.ts'
import type { Telegram } from '../telegram.ts'
import type { LocalModel } from '../template/model.ts'

/** The local run's bot. Its token has Telegram's format and works only for the stand-in. */
export const LOCAL_BOT = {
  token: '424242:local-bot-token-of-this-machine-only',
  username: 'local_platform_bot',
  name: 'Local platform',
}

/**
 * Variables with which the functions find the stand-in.
 * @param messenger address of its pages
 */
export const telegramVariables = ({ url }: Telegram, messenger: string): Record<string, string> => ({
  TELEGRAM_API_URL: url,
  TELEGRAM_LINK_URL: messenger,
})

/**
 * Finds the bot's secret through the variables of the functions that read it.
 * @returns undefined for a template without a bot
 */
export const botSecretOf = (model: LocalModel, secrets: Secrets): SecretStore | undefined => {
  const SecretId = model.functions.map(({ environment }) => environment.TELEGRAM_BOT_SECRET_ARN).find(Boolean)
  if (SecretId === undefined) return undefined
  return {
    read: async () => String((secrets.handle('GetSecretValue', { SecretId }) as { SecretString: string }).SecretString),
    write: async (SecretString) => secrets.handle('PutSecretValue', { SecretId, SecretString }),
  }
}

/** Stores the bot's token and keeps the webhook secret. */
export const saveLocalToken = async (store: SecretStore): Promise<void> => {
  const { readBotSecret, writeBotSecret } = await import('#ops/telegram/secret.ts')
  const kept = await readBotSecret(store)
  if (kept.token !== LOCAL_BOT.token) await writeBotSecret(store, { ...kept, token: LOCAL_BOT.token })
}

/** Connects the bot, as the operator of a deployed stage does (`npm run telegram`). */
export const connectLocalBot = async (
  secret: SecretStore,
  { telegram, baseUrl }: { telegram: Telegram; baseUrl: string },
): Promise<void> => {
  // Loaded here, because a platform without a bot needs no client of the Bot API.
  const { connectBot } = await import('#ops/telegram/connect.ts')
  await connectBot({ secret, baseUrl, apiUrl: telegram.url })
}
