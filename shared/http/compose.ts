import type { LanguageModelOptions } from '../adapters/language-model.ts'
import { createLogger } from '../adapters/logger.ts'
import { noBot } from '../adapters/no-bot.ts'
import { noModel } from '../adapters/no-model.ts'
import { noMonitoring } from '../adapters/no-monitoring.ts'
import { createObjects } from '../adapters/objects.ts'
import { createBotCredentials, createKeys, createModelKey } from '../adapters/secrets.ts'
import type { TelegramOptions } from '../adapters/telegram.ts'
import type { Deps } from '../domain/deps.ts'
import type { Bot, LanguageModel, Monitoring, OutgoingHttp } from '../domain/ports.ts'
import { systemClock } from '../kernel/clock.ts'
import { metricsNamespace } from '../kernel/metrics.ts'
import { readSettings } from '../kernel/settings.ts'
import { createStoreClient } from '../table/client.ts'
import { Table } from '../table/table.ts'

/** Makes the way out: the whole client, or only its check of addresses, for functions that send nothing. */
export type CreateHttp = (options: { allowLoopbackHttp: boolean }) => OutgoingHttp

/** Makes the platform's own bot, for functions that declare it. */
export type CreateBot = (options: TelegramOptions) => Bot

/** Makes the way to the language model, for functions that declare it. */
export type CreateModel = (options: LanguageModelOptions) => LanguageModel

/** Makes the way to the alarms, for functions that declare it. */
export type CreateMonitoring = (prefix: string | undefined, env: Record<string, string | undefined>) => Monitoring

/** Wires the adapters to the ports, from a function's environment. The only place that does. */
const compose = (
  env: Record<string, string | undefined>,
  createHttp: CreateHttp,
  createBot: CreateBot,
  createModel: CreateModel,
  monitor: CreateMonitoring,
): Deps => {
  const settings = readSettings(env)
  const { telegram, model } = settings
  return {
    settings,
    clock: systemClock,
    table: new Table({
      client: createStoreClient(),
      tableName: settings.tableName,
      shards: settings.directoryShards,
      payloadDays: settings.payloadRetentionDays,
      clock: systemClock,
      checkWrites: settings.stage === 'local',
    }),
    keys: createKeys(settings.secretArns, systemClock),
    objects: createObjects(settings.bucketName, env),
    http: createHttp({ allowLoopbackHttp: settings.allowLoopbackTargets }),
    bot: createBot({
      credentials: createBotCredentials(telegram.secretArn, systemClock),
      apiUrl: telegram.apiUrl,
      clock: systemClock,
    }),
    model: createModel({ key: createModelKey(model.secretArn, systemClock), apiUrl: model.apiUrl, name: model.name }),
    monitoring: monitor(settings.alarmPrefix, env),
    log: createLogger(
      settings.logLevel,
      { function: env.AWS_LAMBDA_FUNCTION_NAME },
      undefined,
      metricsNamespace(settings.stage),
    ),
  }
}

let composed: Deps | undefined

/** The dependencies of this function instance, made at its first invocation. */
export const composeOnce = (
  createHttp: CreateHttp,
  createBot: CreateBot = () => noBot,
  createModel: CreateModel = () => noModel,
  monitor: CreateMonitoring = () => noMonitoring,
): Deps => {
  composed ??= compose(process.env, createHttp, createBot, createModel, monitor)
  return composed
}
