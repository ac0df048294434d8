import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import * as z from 'zod'
import type { Keys } from '../domain/deps.ts'
import type { BotCredentials } from '../domain/ports.ts'
import { type Clock, MINUTE, SECOND } from '../kernel/clock.ts'
import { type Keyring, parseKeyring } from '../kernel/keyring.ts'
import { remembered } from './remembered.ts'

/** A rotated secret is seen within this time, in ms; the old key of a ring goes on verifying, so nobody notices. */
export const KEYS_FRESH = 5 * MINUTE

/** A key that the known ring lacks is looked for no more often than this, so that made-up ids cost next to nothing. */
const LOOK_AGAIN = 30 * SECOND

let client: SecretsManagerClient | undefined

const readSecret = async (SecretId: string): Promise<string> => {
  client ??= new SecretsManagerClient({ maxAttempts: 4 })
  const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId }))
  return SecretString ?? ''
}

/**
 * The keyrings from Secrets Manager, kept in memory. A failed refresh goes on with the ring that is known. A key that verifies
 * or opens is also found when it was added since.
 * @param readText gives a secret's text by its ARN
 */
export const createKeys = (arns: Record<keyof Keys, string | undefined>, clock: Clock, readText = readSecret): Keys => {
  const ring = (name: keyof Keys) => {
    const read = remembered(clock, KEYS_FRESH, async () => {
      const arn = arns[name]
      if (!arn) throw new Error(`this function may not read the ${name} keyring`)
      return parseKeyring(await readText(arn))
    })
    return async (): Promise<Keyring> => {
      const known = await read()
      return { ...known, key: async (...of) => (await known.key(...of)) ?? (await read(LOOK_AGAIN)).key(...of) }
    }
  }
  return { tokens: ring('tokens'), admin: ring('admin'), data: ring('data') }
}

/**
 * The platform's own bot from Secrets Manager, kept in memory likewise.
 * @returns undefined where there is no such secret, or its token is empty: no bot is configured
 */
export const createBotCredentials = (
  arn: string | undefined,
  clock: Clock,
): (() => Promise<BotCredentials | undefined>) =>
  arn === undefined ? async () => undefined : remembered(clock, KEYS_FRESH, async () => parseBot(await readSecret(arn)))

/**
 * The language model's key from Secrets Manager, kept in memory likewise.
 * @returns undefined where there is no such secret, or the operator has not put a key there: no model is configured
 */
export const createModelKey = (arn: string | undefined, clock: Clock): (() => Promise<string | undefined>) =>
  arn === undefined
    ? async () => undefined
    : remembered(clock, KEYS_FRESH, async () => parseModelKey(await readSecret(arn)))

/** A key travels in a header. */
const ModelSecret = () => z.object({ api_key: z.string().regex(/^[\x21-\x7e]{0,4096}$/) })

const parseModelKey = (text: string): string | undefined => {
  const { success, data } = ModelSecret().safeParse(json(text))
  if (!success) throw new Error('the language model’s secret is not {"api_key"}')
  return data.api_key || undefined
}

/** A token as BotFather gives it out, or none; a webhook secret as `setWebhook` takes it. */
const BotSecret = () =>
  z.object({
    token: z.string().regex(/^(\d{1,20}:[\w-]{1,128})?$/),
    webhook_secret: z.string().regex(/^[\w-]{16,256}$/),
  })

const parseBot = (text: string): BotCredentials | undefined => {
  const { success, data } = BotSecret().safeParse(json(text))
  // What a parser says of its input may quote it.
  if (!success) throw new Error('the bot’s secret is not {"token", "webhook_secret"}')
  return data.token === '' ? undefined : { token: data.token, webhookSecret: data.webhook_secret }
}

const json = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
