import type { Deps } from '#shared/foundation/work/index.ts'
import type { LanguageModelOptions } from '../adapters/language-model.ts'
import { createLogger } from '../adapters/logger.ts'
import { noBot } from '../adapters/no-bot.ts'
import { noMail } from '../adapters/no-mail.ts'
import { noModel } from '../adapters/no-model.ts'
import { noMonitoring } from '../adapters/no-monitoring.ts'
import { noQueues } from '../adapters/no-queues.ts'
import { noSockets } from '../adapters/no-sockets.ts'
import { createObjects } from '../adapters/objects.ts'
import { createAddressCheck } from '../adapters/outgoing-http/check-only.ts'
import { createBotCredentials, createKeys, createModelKey, createTracesHeaders } from '../adapters/secrets.ts'
import type { TelegramOptions } from '../adapters/telegram.ts'
import { createTraces } from '../adapters/traces.ts'
import { systemClock } from '../kernel/clock.ts'
import { metricsNamespace } from '../kernel/metrics.ts'
import type { Bot } from '../kernel/ports/bot.ts'
import type { LanguageModel } from '../kernel/ports/language-model.ts'
import type { Mail } from '../kernel/ports/mail.ts'
import type { Monitoring } from '../kernel/ports/monitoring.ts'
import type { OutgoingHttp } from '../kernel/ports/outgoing-http.ts'
import type { MessageQueues } from '../kernel/ports/queues.ts'
import type { Sockets } from '../kernel/ports/sockets.ts'
import type { QueueName } from '../kernel/queue-names.ts'
import { readSettings } from '../kernel/settings.ts'
import { createStoreClient } from '../table/client.ts'
import { Table } from '../table/table.ts'

/** Creates the HTTP client for outside addresses. Functions that send nothing only check addresses. */
type CreateHttp = (options: { allowLoopbackHttp: boolean }) => OutgoingHttp

/** Creates the client of the platform's own bot. */
type CreateBot = (options: TelegramOptions) => Bot

/** Creates the client of the language model. */
type CreateModel = (options: LanguageModelOptions) => LanguageModel

/** Creates the client that sends e-mail. */
type CreateMail = (from: string | undefined, env: Record<string, string | undefined>) => Mail

/** Creates the client that reads metrics and alarms. */
type CreateMonitoring = (prefix: string | undefined, env: Record<string, string | undefined>) => Monitoring

/** Creates the sender to live connections. */
type CreateSockets = (url: string | undefined, env: Record<string, string | undefined>) => Sockets

/** Creates the sender of messages. */
type CreateQueues = (urls: Partial<Record<QueueName, string>>) => MessageQueues

/**
 * Adapters that only some functions carry, because they are large or restricted. An absent one is replaced by a
 * stand-in that throws.
 */
export interface Adapters {
  createHttp?: CreateHttp
  createBot?: CreateBot
  createModel?: CreateModel
  createMail?: CreateMail
  createMonitoring?: CreateMonitoring
  createSockets?: CreateSockets
  createQueues?: CreateQueues
}

/** Returns the environment as it is now: Lambda changes the trace's id with each invocation. */
export const currentEnvironment = (): Record<string, string | undefined> => process.env

/** Wires the adapters to the ports, from a function's environment. No other code does. */
const compose = (
  env: Record<string, string | undefined>,
  {
    createHttp = createAddressCheck,
    createBot = () => noBot,
    createModel = () => noModel,
    createMail = () => noMail,
    createMonitoring = () => noMonitoring,
    createSockets = () => noSockets,
    createQueues = () => noQueues,
  }: Adapters,
): Deps => {
  const settings = readSettings(env)
  const { telegram, model } = settings
  const objects = createObjects(settings.bucketName, env)
  const log = createLogger(settings.logLevel, undefined, metricsNamespace(settings.stage))
  return {
    settings,
    clock: systemClock,
    table: new Table({
      client: createStoreClient(),
      tableName: settings.tableName,
      auditTableName: settings.auditTableName,
      shards: settings.directoryShards,
      dueShards: settings.dueShards,
      counterShards: settings.counterShards,
      payloadDays: settings.payloadRetentionDays,
      clock: systemClock,
      checkWrites: settings.stage === 'local',
    }),
    keys: createKeys(settings.secretArns, systemClock, objects, {
      dataKeys: createObjects(settings.keyBucketName, env),
    }),
    objects,
    http: createHttp({ allowLoopbackHttp: settings.allowLoopbackTargets }),
    bot: createBot({
      credentials: createBotCredentials(telegram.secretArn, systemClock),
      apiUrl: settings.telegramApiUrl,
      clock: systemClock,
    }),
    model: createModel({
      key: createModelKey(model.secretArn, systemClock),
      apiUrl: settings.modelApiUrl,
      name: settings.modelName,
      prices: settings.modelPrices,
      isStreamed: settings.modelStreaming,
    }),
    mail: createMail(settings.mailFrom, env),
    monitoring: createMonitoring(settings.alarmPrefix, env),
    sockets: createSockets(settings.socketsUrl, env),
    queues: createQueues(settings.queueUrls),
    log,
    ...(settings.tracesEndpoint !== undefined && {
      traces: createTraces({
        endpoint: settings.tracesEndpoint,
        share: settings.tracesShare,
        headers: createTracesHeaders(settings.tracesSecret, systemClock),
        resource: {
          'service.name': 'agent-platform',
          'deployment.environment.name': settings.stage,
          'faas.name': settings.lambda.name,
          'faas.version': settings.lambda.version,
        },
        log,
      }),
    }),
  }
}

let composed: Deps | undefined

/** Returns the dependencies of this function instance, created at its first invocation. */
export const composeOnce = (adapters: Adapters): Deps => {
  composed ??= compose(process.env, adapters)
  return composed
}
