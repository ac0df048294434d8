import * as z from 'zod'
import { signedBucketAddress } from './bucket-address.ts'
import type { RingName } from './ports/keys.ts'
import { QUEUE_NAMES, type QueueName } from './queue-names.ts'
import { FUNCTION_SETTING_NAMES, FUNCTION_SETTINGS, type FunctionSettings, settingSchema } from './settings/declared.ts'

const text = z.string().optional()

/** Resources that a function may use and where it runs. Set by the deployment, not by an operator. */
const Surroundings = z.object({
  STAGE: z.string().default('dev'),
  BASE_URL: z.url().transform((url) => url.replace(/\/$/, '')),
  TABLE_NAME: z.string().min(1),
  AUDIT_TABLE_NAME: text,
  BUCKET_NAME: text,
  KEY_BUCKET_NAME: text,
  BUS_NAME: text,
  DATA_KEYS_SECRET_ARN: text,
  RECEIPT_KEYS_SECRET_ARN: text,
  CARD_KEYS_SECRET_ARN: text,
  ACCESS_KEYS_SECRET_ARN: text,
  CALLBACK_KEYS_SECRET_ARN: text,
  CONSOLE_KEYS_SECRET_ARN: text,
  STAFF_KEYS_SECRET_ARN: text,
  TELEGRAM_BOT_SECRET_ARN: text,
  LANGUAGE_MODEL_SECRET_ARN: text,
  ALARM_PREFIX: text,
  SOCKETS_URL: text,
  AWS_LAMBDA_FUNCTION_NAME: z.string().default('local'),
  AWS_LAMBDA_FUNCTION_VERSION: z.string().default('$LATEST'),
  RESPONSE_MODE: z.enum(['stream', 'buffered']).default('buffered'),
  AWS_ENDPOINT_URL: text,
  AWS_ENDPOINT_URL_DYNAMODB: text,
})

/** Settings of one function, read once from its environment. */
export interface Settings extends Omit<FunctionSettings, 'logLevel'> {
  stage: string
  /** Issuer and base of every URL that the platform returns, without a trailing slash. Never taken from a request. */
  baseUrl: string
  tableName: string
  /** Table of the audit. */
  auditTableName: string | undefined
  bucketName: string | undefined
  /** Bucket of the workspaces' data keys. */
  keyBucketName: string | undefined
  /** Origin of presigned addresses, which pages allow as the only one for uploads. */
  uploadOrigin: string | undefined
  busName: string | undefined
  queueUrls: Partial<Record<QueueName, string>>
  secretArns: Record<RingName, string | undefined>
  /** Secret with the token of the platform's own bot. Without it the bot is off. */
  telegram: { secretArn: string | undefined }
  /** Secret with the language model's key. Without it inline agents are off. */
  model: { secretArn: string | undefined }
  /** Name prefix of this deployment's alarms. */
  alarmPrefix: string | undefined
  /** Address of live connections (`wss://…`). Absent if the stage has none, and in functions that don't need it. */
  socketsUrl: string | undefined
  streaming: boolean
  /** The function and its published version, as AWS names them. */
  lambda: { name: string; version: string }
  /** Only tests and benchmarks can silence the log. */
  logLevel: FunctionSettings['logLevel'] | 'silent'
}

const LOOPBACK = /^https?:\/\/(127(\.\d{1,3}){3}|localhost|\[::1\])(:\d+)?(\/|$)/

/**
 * Reads and checks the environment. The development switches work only against a loopback store. If one is set
 * anywhere else, the function refuses to start (contract/local-run.md#switches).
 */
export const readSettings = (env: Record<string, string | undefined>): Settings => {
  const declared = declaredSettings(env)
  const e = Surroundings.parse(env)
  const settings: Settings = {
    ...declared,
    ...(env.LOG_LEVEL === 'silent' && { logLevel: env.LOG_LEVEL }),
    stage: e.STAGE,
    baseUrl: e.BASE_URL,
    tableName: e.TABLE_NAME,
    auditTableName: e.AUDIT_TABLE_NAME,
    bucketName: e.BUCKET_NAME,
    keyBucketName: e.KEY_BUCKET_NAME,
    uploadOrigin: e.BUCKET_NAME && new URL(signedBucketAddress(e.BUCKET_NAME, env)).origin,
    busName: e.BUS_NAME,
    queueUrls: Object.fromEntries(
      QUEUE_NAMES.flatMap((name) => {
        const url = env[queueUrlVariable(name)]
        return url ? [[name, url]] : []
      }),
    ),
    secretArns: {
      data: e.DATA_KEYS_SECRET_ARN,
      receipts: e.RECEIPT_KEYS_SECRET_ARN,
      cards: e.CARD_KEYS_SECRET_ARN,
      access: e.ACCESS_KEYS_SECRET_ARN,
      callback: e.CALLBACK_KEYS_SECRET_ARN,
      console: e.CONSOLE_KEYS_SECRET_ARN,
      staff: e.STAFF_KEYS_SECRET_ARN,
    },
    telegram: { secretArn: e.TELEGRAM_BOT_SECRET_ARN },
    model: { secretArn: e.LANGUAGE_MODEL_SECRET_ARN },
    alarmPrefix: e.ALARM_PREFIX,
    socketsUrl: e.SOCKETS_URL || undefined,
    streaming: e.RESPONSE_MODE === 'stream',
    lambda: { name: e.AWS_LAMBDA_FUNCTION_NAME, version: e.AWS_LAMBDA_FUNCTION_VERSION },
  }
  const hasDevelopmentSwitch = settings.consoleAutoProvision || settings.allowLoopbackTargets || settings.localAdmin
  if (hasDevelopmentSwitch && !LOOPBACK.test(e.AWS_ENDPOINT_URL_DYNAMODB ?? e.AWS_ENDPOINT_URL ?? '')) {
    throw new Error(
      'CONSOLE_AUTO_PROVISION, ALLOW_LOOPBACK_TARGETS and LOCAL_ADMIN work only against a loopback DynamoDB endpoint',
    )
  }
  return settings
}

/** Parses the declared settings. An empty variable counts as unset, because the template passes empty ones in local runs. */
const declaredSettings = (env: Record<string, string | undefined>): FunctionSettings =>
  Object.fromEntries(
    FUNCTION_SETTING_NAMES.map((name) => {
      const { variable } = FUNCTION_SETTINGS[name]
      const given = env[variable] || undefined
      const result = settingSchema(name).safeParse(name === 'logLevel' && given === 'silent' ? undefined : given)
      if (!result.success) throw new Error(`${variable}: ${z.prettifyError(result.error)}`)
      return [name, result.data]
    }),
  ) as unknown as FunctionSettings

/** Returns the environment variable that holds a queue's URL: `approved-tools` → `QUEUE_URL_APPROVED_TOOLS`. */
export const queueUrlVariable = (name: QueueName): string => `QUEUE_URL_${name.toUpperCase().replaceAll('-', '_')}`
