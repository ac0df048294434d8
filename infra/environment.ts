import type { RingName } from '#shared/kernel/ports/keys.ts'
import type { QueueName } from '#shared/kernel/queue-names.ts'
import { FUNCTION_SETTINGS } from '#shared/kernel/settings/declared.ts'
import { queueUrlVariable } from '#shared/kernel/settings.ts'
import type { Config } from './config.ts'
import { readsKeyObjects, usesDataKeys } from './grants.ts'
import type { FunctionPlan } from './plan.ts'

/** Names and addresses that the environment tells a function. */
export type Surroundings = {
  baseUrl: string
  /** Address of live connections. Absent if the stage has none. */
  socketsUrl: string | undefined
  tableName: string
  auditTableName: string
  bucketName: string
  /** Bucket of the workspaces' data keys. */
  keyBucketName: string
  /** Bucket with the anchors of the audit: one with object lock, or the platform’s own. */
  auditBucketName: string
  busName: string
  queueUrls: Record<QueueName, string>
  secretArns: Record<RingName, string>
  telegramBotSecretArn: string
  /** Absent if the stage has no language model. */
  languageModelSecretArn: string | undefined
  /** Prefix of the names of the alarms. */
  alarmPrefix: string
}

const secretVariables: Record<RingName, string> = {
  data: 'DATA_KEYS_SECRET_ARN',
  receipts: 'RECEIPT_KEYS_SECRET_ARN',
  cards: 'CARD_KEYS_SECRET_ARN',
  access: 'ACCESS_KEYS_SECRET_ARN',
  callback: 'CALLBACK_KEYS_SECRET_ARN',
  console: 'CONSOLE_KEYS_SECRET_ARN',
  staff: 'STAFF_KEYS_SECRET_ARN',
}

const written = (value: unknown): string => {
  if (value === undefined) return ''
  return typeof value === 'object' && !Array.isArray(value) ? JSON.stringify(value) : String(value)
}

/** Builds a function's environment: settings and names of resources. It contains no secrets, only where they are stored. */
export function environment(plan: FunctionPlan, config: Config, around: Surroundings): Record<string, string> {
  const variables: Record<string, string> = {
    STAGE: config.stage,
    BASE_URL: around.baseUrl,
    TABLE_NAME: around.tableName,
    AUDIT_TABLE_NAME: around.auditTableName,
    RESPONSE_MODE: plan.waits && config.streaming ? 'stream' : 'buffered',
  }
  for (const [name, setting] of Object.entries(FUNCTION_SETTINGS)) {
    if ('capability' in setting && !plan.capabilities.includes(setting.capability)) continue
    const value = config[name as keyof typeof FUNCTION_SETTINGS]
    // Switches that are off aren't in the environment at all.
    if (value === false && 'default' in setting && setting.default === false) continue
    // Empty if unset: the local run's shell can set any variable that the template names.
    variables[setting.variable] = written(value)
  }
  // If a function has several workers, a message finds its worker by its queue.
  for (const { source } of plan.workers.length > 1 ? plan.workers : [])
    if (source.kind === 'queue') variables[queueUrlVariable(source.queue)] = around.queueUrls[source.queue]
  for (const capability of plan.capabilities) {
    const [kind, name] = capability.split(':')
    if (kind === 'objects' || kind === 'files' || kind === 'packages' || kind === 'bucket')
      variables.BUCKET_NAME = around.bucketName
    if (capability === 'audit:record') variables.BUCKET_NAME = around.auditBucketName
    if (kind === 'sockets' && around.socketsUrl !== undefined) variables.SOCKETS_URL = around.socketsUrl
    if (kind === 'bus') variables.BUS_NAME = around.busName
    if (kind === 'queue') variables[queueUrlVariable(name as QueueName)] = around.queueUrls[name as QueueName]
    if (kind === 'keys' && name !== 'public' && name !== 'destroy')
      variables[secretVariables[name as RingName]] = around.secretArns[name as RingName]
    if (readsKeyObjects(capability)) variables.BUCKET_NAME = around.bucketName
    if (usesDataKeys(capability)) variables.KEY_BUCKET_NAME = around.keyBucketName
    if (kind === 'bot') {
      variables.TELEGRAM_BOT_SECRET_ARN = around.telegramBotSecretArn
    }
    if (kind === 'metrics') variables.ALARM_PREFIX = around.alarmPrefix
    if (kind === 'model' && around.languageModelSecretArn !== undefined) {
      variables.LANGUAGE_MODEL_SECRET_ARN = around.languageModelSecretArn
    }
  }
  return variables
}
