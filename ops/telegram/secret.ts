import * as z from 'zod'

/** Format of BotFather's tokens. */
export const TOKEN = /^\d{1,20}:[\w-]{1,128}$/

/** The bot's secret as the functions read it (shared/adapters/secrets.ts). */
const BotSecret = z.object({
  token: z.union([z.literal(''), z.string().regex(TOKEN)]),
  webhook_secret: z.string().regex(/^[\w-]{16,256}$/),
})

export type BotSecret = z.infer<typeof BotSecret>

/** Store of the secret's text: Secrets Manager, or its stand-in in the local run. */
export interface SecretStore {
  read(): Promise<string>
  write(text: string): Promise<unknown>
}

/** Reads the bot's secret. @throws Error that quotes nothing of the stored text */
export async function readBotSecret(store: SecretStore): Promise<BotSecret> {
  const text = await store.read()
  try {
    return BotSecret.parse(JSON.parse(text))
  } catch {
    throw new Error('The bot’s secret isn’t {"token", "webhook_secret"}. Is it the stack’s output TelegramBotSecret?')
  }
}

export const writeBotSecret = (store: SecretStore, value: BotSecret): Promise<unknown> =>
  store.write(JSON.stringify(value))
