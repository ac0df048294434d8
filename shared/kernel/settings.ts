import * as z from 'zod'
import { QUEUE_NAMES, type QueueName } from './queue-names.ts'

/** Seconds after each failed attempt of a delivery, unless a deployment says otherwise (specification "Receiving rules"). */
export const RETRY_DELAYS = '10,60,300,1800,2,6'

const flag = (fallback: 'true' | 'false' = 'false') =>
  z
    .enum(['true', 'false'])
    .default(fallback)
    .transform((text) => text === 'true')

const whole = (least: number, most: number, fallback: number) =>
  z.coerce.number().int().min(least).max(most).default(fallback)

const text = z.string().optional()

/** Days that runs are kept with what they took and gave, unless a deployment says otherwise. */
export const PAYLOAD_DAYS = 90

/** An address that paths are appended to. */
const base = (fallback?: string) =>
  (fallback === undefined ? z.url() : z.url().default(fallback)).transform((url) => url.replace(/\/$/, ''))

const Environment = z.object({
  STAGE: z.string().default('dev'),
  BASE_URL: base(),
  TABLE_NAME: z.string().min(1),
  BUCKET_NAME: text,
  BUS_NAME: text,
  TOKEN_KEYS_SECRET_ARN: text,
  ADMIN_KEYS_SECRET_ARN: text,
  DATA_KEYS_SECRET_ARN: text,
  TELEGRAM_BOT_SECRET_ARN: text,
  TELEGRAM_API_URL: base('https://api.telegram.org'),
  TELEGRAM_LINK_URL: base('https://t.me'),
  LANGUAGE_MODEL_SECRET_ARN: text,
  // Empty is none: the local run takes an address from the shell only where the template names the variable.
  MODEL_API_URL: z
    .literal('')
    .transform(() => undefined)
    .or(base())
    .optional(),
  MODEL_NAME: text.transform((name) => name || undefined),
  ALARM_PREFIX: text,
  RESPONSE_MODE: z.enum(['stream', 'buffered']).default('buffered'),
  CONSOLE_AUTO_PROVISION: flag(),
  ALLOW_LOOPBACK_TARGETS: flag(),
  LOCAL_ADMIN: flag(),
  ADDRESS_RATE_LIMITS: flag('true'),
  EDGE: flag(),
  REFRESH_REUSE_WINDOW_SECONDS: whole(0, 30, 0),
  WEBHOOK_RETRY_DELAYS_SECONDS: z
    .string()
    .default(RETRY_DELAYS)
    .transform((text) => text.split(',').map(Number))
    .pipe(z.array(z.number().int().min(0).max(86_400)).min(1).max(20)),
  // In less than a week a run could outlive what is kept of it: an approval alone waits for a day.
  PAYLOAD_RETENTION_DAYS: whole(7, 3650, PAYLOAD_DAYS),
  DIRECTORY_SHARDS: whole(1, 256, 8),
  LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info'),
  AWS_ENDPOINT_URL: text,
  AWS_ENDPOINT_URL_DYNAMODB: text,
})

/** Settings of one function, read once from its environment. */
export interface Settings {
  stage: string
  /** Issuer and base of every address we hand out, without a trailing slash; never taken from a request. */
  baseUrl: string
  tableName: string
  bucketName: string | undefined
  busName: string | undefined
  queueUrls: Partial<Record<QueueName, string>>
  secretArns: { tokens: string | undefined; admin: string | undefined; data: string | undefined }
  /** The platform's own bot. Addresses without a trailing slash. */
  telegram: {
    /** Where its token is kept; without it there is no bot. */
    secretArn: string | undefined
    /** The Bot API's server. */
    apiUrl: string
    /** What links into the messaging app begin with. */
    linkUrl: string
  }
  /** The language model that inline agents run on. */
  model: {
    /** Where its key is kept; without a key there is no model. */
    secretArn: string | undefined
    /** An OpenAI-compatible API, without a trailing slash; `/chat/completions` is appended. */
    apiUrl: string | undefined
    /** What an agent runs on whose manifest names no model. */
    name: string | undefined
  }
  /** What the names of this deployment's alarms begin with. */
  alarmPrefix: string | undefined
  streaming: boolean
  consoleAutoProvision: boolean
  allowLoopbackTargets: boolean
  /** The fixed local admin and admin key exist (decisions §10). */
  localAdmin: boolean
  addressRateLimits: boolean
  /** Every request comes through the edge, which says in a header whose it is. */
  edge: boolean
  refreshReuseWindowMs: number
  webhookRetryDelaysMs: number[]
  /** Days that runs are kept, with what they took and gave. */
  payloadRetentionDays: number
  directoryShards: number
  logLevel: 'debug' | 'info' | 'warn' | 'error' | 'silent'
}

const LOOPBACK = /^https?:\/\/(127(\.\d{1,3}){3}|localhost|\[::1\])(:\d+)?(\/|$)/

/**
 * Reads and checks the environment. The switches that open the platform up for development work only against a loopback
 * store; set anywhere else, the function refuses to start (decisions §10).
 */
export const readSettings = (env: Record<string, string | undefined>): Settings => {
  const e = Environment.parse(env)
  const settings: Settings = {
    stage: e.STAGE,
    baseUrl: e.BASE_URL,
    tableName: e.TABLE_NAME,
    bucketName: e.BUCKET_NAME,
    busName: e.BUS_NAME,
    queueUrls: Object.fromEntries(
      QUEUE_NAMES.flatMap((name) => {
        const url = env[queueUrlVariable(name)]
        return url ? [[name, url]] : []
      }),
    ),
    secretArns: { tokens: e.TOKEN_KEYS_SECRET_ARN, admin: e.ADMIN_KEYS_SECRET_ARN, data: e.DATA_KEYS_SECRET_ARN },
    telegram: { secretArn: e.TELEGRAM_BOT_SECRET_ARN, apiUrl: e.TELEGRAM_API_URL, linkUrl: e.TELEGRAM_LINK_URL },
    model: { secretArn: e.LANGUAGE_MODEL_SECRET_ARN, apiUrl: e.MODEL_API_URL, name: e.MODEL_NAME },
    alarmPrefix: e.ALARM_PREFIX,
    streaming: e.RESPONSE_MODE === 'stream',
    consoleAutoProvision: e.CONSOLE_AUTO_PROVISION,
    allowLoopbackTargets: e.ALLOW_LOOPBACK_TARGETS,
    localAdmin: e.LOCAL_ADMIN,
    addressRateLimits: e.ADDRESS_RATE_LIMITS,
    edge: e.EDGE,
    refreshReuseWindowMs: e.REFRESH_REUSE_WINDOW_SECONDS * 1_000,
    webhookRetryDelaysMs: e.WEBHOOK_RETRY_DELAYS_SECONDS.map((seconds) => seconds * 1_000),
    payloadRetentionDays: e.PAYLOAD_RETENTION_DAYS,
    directoryShards: e.DIRECTORY_SHARDS,
    logLevel: e.LOG_LEVEL,
  }
  const open = settings.consoleAutoProvision || settings.allowLoopbackTargets || settings.localAdmin
  if (open && !LOOPBACK.test(e.AWS_ENDPOINT_URL_DYNAMODB ?? e.AWS_ENDPOINT_URL ?? '')) {
    throw new Error(
      'CONSOLE_AUTO_PROVISION, ALLOW_LOOPBACK_TARGETS and LOCAL_ADMIN work only against a loopback DynamoDB endpoint',
    )
  }
  return settings
}

/** The environment variable that carries a queue's address: `approved-tools` → `QUEUE_URL_APPROVED_TOOLS`. */
export const queueUrlVariable = (name: QueueName): string => `QUEUE_URL_${name.toUpperCase().replaceAll('-', '_')}`
