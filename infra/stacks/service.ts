import { CfnOutput, RemovalPolicy, Stack, type StackProps } from 'aws-cdk-lib'
import type { CfnRestApi } from 'aws-cdk-lib/aws-apigateway'
import { Tracing } from 'aws-cdk-lib/aws-lambda'
import type { Construct } from 'constructs'
import type { QueueDefinition } from '#shared/events/queues.ts'
import type { QueueName } from '#shared/kernel/queue-names.ts'
import { addAddress } from '../address.ts'
import { apiNames, createApi } from '../api.ts'
import { type Config, ConfigError } from '../config.ts'
import type { EdgeKeys } from '../edge-keys.ts'
import { environment, type Surroundings } from '../environment.ts'
import { PlatformFunction } from '../functions.ts'
import type { Resources, Source } from '../grants.ts'
import { RINGS, type RingName } from '../keys/rings.ts'
import { Messaging } from '../messaging.ts'
import { type FunctionPlan, planFunctions, type Registry } from '../plan.ts'
import { Rollout } from '../rollout.ts'
import type { DataStack } from './data.ts'

export type ServiceProps = StackProps & {
  config: Config
  data: DataStack
  registry: Registry
  queues: Record<QueueName, QueueDefinition>
  /** The folder with one bundle for each function. */
  bundles: string
}

/** What is stateless: functions, bus, queues and the API's shell. It can be deleted and deployed again without losing anything but messages on their way. */
export class ServiceStack extends Stack {
  readonly api: CfnRestApi
  readonly baseUrl: string
  /** Of the key without which the API takes no request, behind the edge. */
  readonly edgeKeys: EdgeKeys | undefined
  readonly functions: PlatformFunction[]
  readonly messaging: Messaging

  constructor(scope: Construct, id: string, { config, data, registry, queues, bundles, ...props }: ServiceProps) {
    super(scope, id, props)
    const plans = planFunctions(registry)
    for (const setting of ['reservedConcurrency', 'provisionedConcurrency'] as const) {
      for (const name of Object.keys(config[setting]).filter((key) => !plans.some((plan) => plan.name === key))) {
        throw new ConfigError(
          `${setting}.${name}: there is no such function; they are ${plans.map((plan) => plan.name).join(', ')}`,
        )
      }
    }
    this.api = createApi(this, config)
    const { baseUrl, edgeKeys } = addAddress(this, this.api, config)
    this.baseUrl = baseUrl
    this.edgeKeys = edgeKeys
    const messaging = new Messaging(this, 'Messaging', asSet(queues, config))
    this.messaging = messaging
    const resources = resourcesOf(data, messaging)
    const around = surroundingsOf(config, data, messaging, baseUrl)

    const kept = {
      tracing: config.tracing ? Tracing.ACTIVE : Tracing.DISABLED,
      logRetentionDays: config.logRetentionDays,
      removalPolicy: config.retainData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    }
    this.functions = plans.map(
      (plan) =>
        new PlatformFunction(this, {
          ...kept,
          plan,
          bundles,
          environment: environment(plan, config, around),
          resources,
          source: sourceOf(plan, resources, messaging),
          reservedConcurrency: config.reservedConcurrency[plan.name],
          provisionedConcurrency: config.provisionedConcurrency[plan.name],
        }),
    )
    if (config.deployment !== 'allAtOnce') {
      const api = apiNames(config)
      new Rollout(this, 'Rollout', { ...kept, ...api, functions: this.functions, pace: config.deployment })
    }
    for (const { plan, live } of this.functions) messaging.connect(plan, live, data.table)
    new CfnOutput(this, 'BaseUrl', { value: baseUrl, description: 'Where the platform answers' })
    new CfnOutput(this, 'TableName', {
      value: data.table.tableName,
      description: 'Where npm run admin makes the first superadmin',
    })
    for (const [ring, { output, what }] of Object.entries(RINGS)) {
      const value = data.keyrings[ring as RingName].secretArn
      new CfnOutput(this, output, { value, description: `The keyring of ${what}, for npm run keys` })
    }
    new CfnOutput(this, 'TelegramBotSecret', {
      value: data.telegramBot.secretArn,
      description: 'Where npm run telegram puts the bot’s token',
    })
    new CfnOutput(this, 'LanguageModelSecret', {
      value: data.languageModel.secretArn,
      description: 'Where the operator puts the language model’s key, as {"api_key": "…"}',
    })
    new CfnOutput(this, 'ApiId', { value: this.api.ref })
  }
}

/** The queues with what a stage sets of them. */
const asSet = (
  queues: Record<QueueName, QueueDefinition>,
  { queueConcurrency, statisticsDelaySeconds: windowSeconds }: Config,
): Record<QueueName, QueueDefinition> => {
  const all = { ...queues, statistics: { ...queues.statistics, windowSeconds } }
  const named = Object.entries(queueConcurrency) as [QueueName, number][]
  return {
    ...all,
    ...Object.fromEntries(named.map(([name, maxConcurrency]) => [name, { ...all[name], maxConcurrency }])),
  }
}

function resourcesOf(data: DataStack, messaging: Messaging): Resources {
  return {
    table: data.table.tableArn,
    stream: data.table.tableStreamArn ?? '',
    bucket: data.bucketArn,
    bus: messaging.bus.eventBusArn,
    keyrings: data.keyringArns,
    telegramBot: data.telegramBotArn,
    languageModel: data.languageModelArn,
    queues: byQueue(messaging, (queue) => queue.queueArn),
  }
}

function surroundingsOf(config: Config, data: DataStack, messaging: Messaging, baseUrl: string): Surroundings {
  const { tokens, admin, data: atRest } = data.keyrings
  return {
    baseUrl,
    tableName: data.table.tableName,
    bucketName: data.bucket.bucketName,
    busName: messaging.bus.eventBusName,
    secretArns: { tokens: tokens.secretArn, admin: admin.secretArn, data: atRest.secretArn },
    telegramBotSecretArn: data.telegramBot.secretArn,
    languageModelSecretArn: data.languageModel.secretArn,
    // CloudFormation begins the names of a stack's alarms with the stack's own.
    alarmPrefix: `${config.prefix}-${config.stage}-Operations-`,
    queueUrls: byQueue(messaging, (queue) => queue.queueUrl),
  }
}

type Queue = Messaging['queues'] extends Map<QueueName, infer Item> ? Item : never

const byQueue = (messaging: Messaging, read: (queue: Queue) => string) =>
  Object.fromEntries([...messaging.queues].map(([name, queue]) => [name, read(queue)])) as Record<QueueName, string>

function sourceOf(plan: FunctionPlan, resources: Resources, messaging: Messaging): Source {
  const { worker } = plan
  if (worker?.source.kind === 'stream') return { kind: 'stream', failures: messaging.unrelayed.queueArn }
  if (worker?.source.kind === 'queue') return { kind: 'queue', queue: resources.queues[worker.source.queue] }
  const again = messaging.againOf(plan)
  if (again) return { kind: 'queue', queue: again.queueArn }
  return { kind: 'none' }
}
