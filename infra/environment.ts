import type { QueueName } from '#shared/kernel/queue-names.ts'
import { queueUrlVariable } from '#shared/kernel/settings.ts'
import type { Config } from './config.ts'
import type { FunctionPlan } from './plan.ts'

/** What the environment tells a function of its surroundings. */
export type Surroundings = {
  baseUrl: string
  tableName: string
  bucketName: string
  busName: string
  queueUrls: Record<QueueName, string>
  secretArns: Record<'tokens' | 'admin' | 'data', string>
  telegramBotSecretArn: string
  languageModelSecretArn: string
  /** What the names of the alarms begin with. */
  alarmPrefix: string
}

const secretVariables = {
  tokens: 'TOKEN_KEYS_SECRET_ARN',
  admin: 'ADMIN_KEYS_SECRET_ARN',
  data: 'DATA_KEYS_SECRET_ARN',
} as const

/** A function's environment: the stage's settings, and the names of what it may reach. Never a secret, only where one is kept. */
export function environment(plan: FunctionPlan, config: Config, around: Surroundings): Record<string, string> {
  const variables: Record<string, string> = {
    STAGE: config.stage,
    BASE_URL: around.baseUrl,
    LOG_LEVEL: config.logLevel,
    TABLE_NAME: around.tableName,
    DIRECTORY_SHARDS: String(config.directoryShards),
    PAYLOAD_RETENTION_DAYS: String(config.payloadRetentionDays),
    ADDRESS_RATE_LIMITS: String(config.addressRateLimits),
    REFRESH_REUSE_WINDOW_SECONDS: String(config.refreshReuseWindowSeconds),
    WEBHOOK_RETRY_DELAYS_SECONDS: config.webhookRetryDelaysSeconds.join(','),
    RESPONSE_MODE: plan.waits && config.streaming ? 'stream' : 'buffered',
  }
  // A deployment without these switches does not even name them.
  if (config.consoleAutoProvision) variables.CONSOLE_AUTO_PROVISION = 'true'
  if (config.allowLoopbackTargets) variables.ALLOW_LOOPBACK_TARGETS = 'true'
  if (config.edge) variables.EDGE = 'true'
  if (config.localAdmin) variables.LOCAL_ADMIN = 'true'
  for (const capability of plan.capabilities) {
    const [kind, name] = capability.split(':')
    if (kind === 'objects' || kind === 'files') variables.BUCKET_NAME = around.bucketName
    if (kind === 'bus') variables.BUS_NAME = around.busName
    if (kind === 'queue') variables[queueUrlVariable(name as QueueName)] = around.queueUrls[name as QueueName]
    if (kind === 'keys')
      variables[secretVariables[name as keyof typeof secretVariables]] =
        around.secretArns[name as 'tokens' | 'admin' | 'data']
    if (kind === 'bot') {
      variables.TELEGRAM_BOT_SECRET_ARN = around.telegramBotSecretArn
      variables.TELEGRAM_API_URL = config.telegramApiUrl
      variables.TELEGRAM_LINK_URL = config.telegramLinkUrl
    }
    if (kind === 'metrics') variables.ALARM_PREFIX = around.alarmPrefix
    if (kind === 'model') {
      variables.LANGUAGE_MODEL_SECRET_ARN = around.languageModelSecretArn
      // Empty where there is none: what the template names, the local run's shell can set.
      variables.MODEL_API_URL = config.modelApiUrl ?? ''
      variables.MODEL_NAME = config.modelName ?? ''
    }
  }
  return variables
}
