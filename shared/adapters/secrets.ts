import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import * as z from 'zod'
import { AWS_CALLS } from '../kernel/aws-calls.ts'
import { type Clock, MINUTE } from '../kernel/clock.ts'
import { type Keyring, parseKeyring } from '../kernel/keyring.ts'
import type { BotCredentials } from '../kernel/ports/bot.ts'
import { isSigningRing, type Keys, RING_NAMES, type RingName } from '../kernel/ports/keys.ts'
import type { ObjectStore } from '../kernel/ports/objects.ts'
import { cachedFetch } from './cached-fetch.ts'
import { createPublicKeys, LOOK_AGAIN, publishKeys } from './public-keys.ts'
import { createWorkspaceKeys } from './workspace-keys.ts'

/**
 * Time in ms after which a rotated secret is picked up. The ring's old key keeps verifying, so callers don't notice.
 */
export const KEYS_FRESH = 5 * MINUTE

let client: SecretsManagerClient | undefined

const readSecret = async (SecretId: string): Promise<string> => {
  client ??= new SecretsManagerClient(AWS_CALLS)
  const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId }))
  return SecretString ?? ''
}

interface KeysOptions {
  /** Returns a secret's text by its ARN. */
  readText?: (arn: string) => Promise<string>
  /** The bucket of the workspaces' data keys. */
  dataKeys?: Pick<ObjectStore, 'get' | 'put' | 'create'>
}

/**
 * Creates the keyrings from Secrets Manager, cached in memory. If a refresh fails, the cached ring stays in use. Keys
 * for verifying and opening are found even if they were added later. Reading a ring that signs tokens publishes its public
 * keys, so a key is known before it signs.
 */
export const createKeys = (
  arns: { [R in RingName]?: string | undefined },
  clock: Clock,
  objects: Pick<ObjectStore, 'get' | 'put' | 'create'>,
  { readText = readSecret, dataKeys = objects }: KeysOptions = {},
): Keys => {
  const ring = (name: RingName) => {
    const read = cachedFetch(clock, KEYS_FRESH, async () => {
      const arn = arns[name]
      if (!arn) throw new Error(`this function may not read the ${name} keyring`)
      const ring = parseKeyring(await readText(arn))
      if (isSigningRing(name)) await publishKeys(objects, name, ring)
      return ring
    })
    return async (): Promise<Keyring> => {
      const known = await read()
      return { ...known, opening: async (id) => (await known.opening(id)) ?? (await read(LOOK_AGAIN)).opening(id) }
    }
  }
  const rings = Object.fromEntries(RING_NAMES.map((name) => [name, ring(name)])) as Record<RingName, Keys[RingName]>
  return {
    ...rings,
    ...createWorkspaceKeys({
      objects: dataKeys,
      clock,
      data: rings.data,
      fresh: KEYS_FRESH,
    }),
    publicKeys: createPublicKeys(objects, clock, KEYS_FRESH),
  }
}

/**
 * Creates the reader of the platform bot's credentials from Secrets Manager, cached in memory in the same way.
 * @returns undefined if no bot is configured: the secret does not exist or its token is empty
 */
export const createBotCredentials = (
  arn: string | undefined,
  clock: Clock,
): (() => Promise<BotCredentials | undefined>) =>
  arn === undefined
    ? async () => undefined
    : cachedFetch(clock, KEYS_FRESH, async () => parseBot(await readSecret(arn)))

/**
 * Creates the reader of the language model's key from Secrets Manager, cached in memory in the same way.
 * @returns undefined if no model is configured: the secret does not exist or holds no key
 */
export const createModelKey = (arn: string | undefined, clock: Clock): (() => Promise<string | undefined>) =>
  arn === undefined
    ? async () => undefined
    : cachedFetch(clock, KEYS_FRESH, async () => parseModelKey(await readSecret(arn)))

/** Schema of the model's secret. The key is sent in a header. */
const ModelSecret = () => z.object({ api_key: z.string().regex(/^[\x21-\x7e]{0,4096}$/) })

const parseModelKey = (text: string): string | undefined => {
  const { success, data } = ModelSecret().safeParse(json(text))
  if (!success) throw new Error('the language model’s secret must have the form {"api_key"}')
  return data.api_key || undefined
}

/**
 * Creates the reader of the headers for a receiver of traces from Secrets Manager, cached in memory in the same way.
 * @returns no headers without a secret
 */
export const createTracesHeaders = (arn: string | undefined, clock: Clock): (() => Promise<Record<string, string>>) =>
  arn === undefined
    ? async () => ({})
    : cachedFetch(clock, KEYS_FRESH, async () => parseTracesHeaders(await readSecret(arn)))

const TracesSecret = () => z.record(z.string().regex(/^[\w-]{1,256}$/), z.string().regex(/^[\x20-\x7e]{0,4096}$/))

const parseTracesHeaders = (text: string): Record<string, string> => {
  const { success, data } = TracesSecret().safeParse(json(text))
  if (!success) throw new Error('the secret of traces must be a JSON object of headers and their values')
  return data
}

/**
 * Schema of the bot's secret: a token as BotFather issues it, or none, and a webhook secret as `setWebhook` accepts it.
 */
const BotSecret = () =>
  z.object({
    token: z.string().regex(/^(\d{1,20}:[\w-]{1,128})?$/),
    webhook_secret: z.string().regex(/^[\w-]{16,256}$/),
  })

const parseBot = (text: string): BotCredentials | undefined => {
  const { success, data } = BotSecret().safeParse(json(text))
  // Parser errors may quote their input.
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
