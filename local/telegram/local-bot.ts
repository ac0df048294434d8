import type { SecretStore } from '#infra/telegram/secret.ts'
import type { Secrets } from '../aws/secrets.ts'
import type { Telegram } from '../telegram.ts'
import type { LocalModel } from '../template/model.ts'

/** The local run's bot. Its token has Telegram's shape and opens nothing but the stand-in. */
export const LOCAL_BOT = {
  token: '424242:local-bot-token-of-this-machine-only',
  username: 'local_platform_bot',
  name: 'Local platform',
}

/** Where the functions find the stand-in. */
export const telegramVariables = ({ url }: Telegram): Record<string, string> => ({
  TELEGRAM_API_URL: url,
  TELEGRAM_LINK_URL: url,
})

/** The bot's secret, found by what the functions that read it are told. @returns undefined for a template without a bot */
export const botSecretOf = (model: LocalModel, secrets: Secrets): SecretStore | undefined => {
  const SecretId = model.functions.map(({ environment }) => environment.TELEGRAM_BOT_SECRET_ARN).find(Boolean)
  if (SecretId === undefined) return undefined
  return {
    read: async () => String((secrets.handle('GetSecretValue', { SecretId }) as { SecretString: string }).SecretString),
    write: async (SecretString) => secrets.handle('PutSecretValue', { SecretId, SecretString }),
  }
}

/** Keeps the bot's token, and the webhook secret as it is. */
export const keepLocalToken = async (store: SecretStore): Promise<void> => {
  const { readBotSecret, writeBotSecret } = await import('#infra/telegram/secret.ts')
  const kept = await readBotSecret(store)
  if (kept.token !== LOCAL_BOT.token) await writeBotSecret(store, { ...kept, token: LOCAL_BOT.token })
}

/** As the operator does for a deployed stage (`npm run telegram`). */
export const connectLocalBot = async (
  secret: SecretStore,
  { telegram, baseUrl }: { telegram: Telegram; baseUrl: string },
): Promise<void> => {
  // Loaded here: a platform without a bot does without the Bot API's client.
  const { connectBot } = await import('#infra/telegram/connect.ts')
  await connectBot({ secret, baseUrl, apiUrl: telegram.url })
}
