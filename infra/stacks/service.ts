import { CfnOutput, NestedStack, Stack, type StackProps } from 'aws-cdk-lib'
import { BasePathMapping, type CfnAccount, type CfnRestApi, type DomainName } from 'aws-cdk-lib/aws-apigateway'
import { Tracing } from 'aws-cdk-lib/aws-lambda'
import { CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2'
import type { Construct } from 'constructs'
import type { QueueDefinition } from '#shared/foundation/queues/index.ts'
import { RING_NAMES, type RingName } from '#shared/kernel/ports/keys.ts'
import type { QueueName } from '#shared/kernel/queue-names.ts'
import { addAddress } from '../address.ts'
import { acceptEdgeKeys, addRoutes, addStage, apiWithRoutes, createApi, logsOfGateway } from '../api.ts'
import { reservedBy } from '../concurrency.ts'
import { type Config, ConfigError } from '../config.ts'
import type { EdgeKeys } from '../edge-keys.ts'
import { environment, type Surroundings } from '../environment.ts'
import { PlatformFunction } from '../functions.ts'
import { addGatewayErrors } from '../gateway-errors.ts'
import type { Resources, Source } from '../grants.ts'
import { Messaging } from '../messaging.ts'
import { type FunctionPlan, planFunctions, type Registry } from '../plan.ts'
import { retention } from '../retention.ts'
import { RINGS } from '../rings.ts'
import { Rollout } from '../rollout.ts'
import { planRoutes } from '../routes.ts'
import { addSocketRoutes, createSockets, type Sockets } from '../sockets.ts'
import { WebAcl } from '../waf.ts'
import type { DataStack } from './data.ts'

export type ServiceProps = StackProps & {
  config: Config
  data: DataStack
  registry: Registry
  queues: Record<QueueName, QueueDefinition>
  /** Folder with one bundle per function. */
  bundles: string
}

/**
 * Stateless stack: functions, bus, queues and the API with its routes. Deleting and redeploying it loses only messages in queues.
 *
 * Routes and functions change in one update: CloudFormation creates what is new, moves the routes, and removes old functions last. The
 * routes are half of its resources and without state, so they are in a stack nested in it, which has a limit of its own.
 */
export class ServiceStack extends Stack {
  readonly api: CfnRestApi
  readonly baseUrl: string
  /** Keys that the API requires of each request. Present with the edge only. */
  readonly edgeKeys: EdgeKeys | undefined
  readonly functions: PlatformFunction[]
  readonly messaging: Messaging
  /** Resources, methods and the stage of the API. */
  readonly routes: NestedStack

  constructor(scope: Construct, id: string, { config, data, registry, queues, bundles, ...props }: ServiceProps) {
    super(scope, id, props)
    const plans = planFunctions(registry)
    for (const setting of ['reservedConcurrency', 'provisionedConcurrency'] as const) {
      for (const name of Object.keys(config[setting] ?? {}).filter((key) => !plans.some((plan) => plan.name === key))) {
        throw new ConfigError(
          `${setting}.${name}: there is no such function; they are ${plans.map((plan) => plan.name).join(', ')}`,
        )
      }
    }
    this.api = createApi(this, config)
    const { baseUrl, edgeKeys, domain } = addAddress(this, this.api, config)
    this.baseUrl = baseUrl
    this.edgeKeys = edgeKeys
    const messaging = new Messaging(this, 'Messaging', asSet(queues, config), config)
    this.messaging = messaging
    const sockets = config.liveUpdates ? createSockets(this, config) : undefined
    const resources = resourcesOf(data, messaging, config, sockets)
    const around = surroundingsOf(config, data, messaging, baseUrl, sockets)

    const reserved = reservedBy(plans, config)
    const kept = {
      tracing: config.tracing ? Tracing.ACTIVE : Tracing.DISABLED,
      tracesLayer: config.tracesLayer,
      tracesSecret: config.tracesSecret,
      logRetentionDays: config.logRetentionDays,
      removalPolicy: retention(config),
      kmsKeyArn: config.kmsKeyArn,
    }
    this.functions = plans.map(
      (plan) =>
        new PlatformFunction(this, {
          ...kept,
          plan,
          bundles,
          environment: environment(plan, config, around),
          resources,
          sources: sourcesOf(plan, resources, messaging),
          reservedConcurrency: reserved[plan.name],
          provisionedConcurrency: config.provisionedConcurrency[plan.name],
        }),
    )
    if (config.deployment !== 'allAtOnce') {
      new Rollout(this, 'Rollout', {
        ...kept,
        stageName: config.stage,
        functions: this.functions,
        pace: config.deployment,
      })
    }
    for (const { plan, live } of this.functions) messaging.connect(plan, live, data.table)
    const logs = logsOfGateway(this)
    this.routes = this.#addRoutes(config, registry, domain, logs)
    const pages = this.functions.find(({ plan }) => plan.workers.some(({ source }) => source.kind === 'sockets'))
    if (sockets !== undefined && pages !== undefined) addSocketRoutes(this, sockets, pages, config, logs)
    new CfnOutput(this, 'BaseUrl', { value: baseUrl, description: 'Base address of the platform' })
    new CfnOutput(this, 'TableName', {
      value: data.table.tableName,
      description: 'Table in which npm run admin creates the first superadmin',
    })
    new CfnOutput(this, 'AuditTableName', {
      value: data.auditTable.tableName,
      description: 'Table of the audit, for npm run audit and npm run upgrade',
    })
    new CfnOutput(this, 'BucketName', {
      value: data.bucket.bucketName,
      description: 'Bucket in which npm run keys publishes public keys',
    })
    new CfnOutput(this, 'KeyBucketName', {
      value: data.keyBucket.bucketName,
      description: 'Bucket of the workspaces’ data keys, which npm run keys wraps again',
    })
    new CfnOutput(this, 'AuditBucketName', {
      value: data.auditBucket.bucketName,
      description: 'Bucket with the anchors of the audit, for npm run audit',
    })
    for (const [ring, { output, what }] of Object.entries(RINGS)) {
      const value = data.keyrings[ring as RingName].secretArn
      new CfnOutput(this, output, { value, description: `Keyring of ${what}, for npm run keys` })
    }
    new CfnOutput(this, 'TelegramBotSecret', {
      value: data.telegramBot.secretArn,
      description: 'Secret in which npm run telegram stores the bot’s token',
    })
    if (data.languageModel) {
      new CfnOutput(this, 'LanguageModelSecret', {
        value: data.languageModel.secretArn,
        description: 'Secret for the language model’s key, as {"api_key": "…"}',
      })
    }
    new CfnOutput(this, 'ApiId', { value: this.api.ref })
  }

  #addRoutes(
    config: Config,
    { requestFunctions }: Registry,
    domain: DomainName | undefined,
    logs: CfnAccount,
  ): NestedStack {
    const nested = new NestedStack(this, 'Routes', { description: `Routes of the platform (stage ${config.stage})` })
    const api = apiWithRoutes(nested, this.api)
    const handlers = new Map(this.functions.map(({ plan, live }) => [plan.name, live]))
    const routes = planRoutes(requestFunctions)
    const methods = addRoutes(api, routes, handlers, {
      streaming: config.streaming,
      keyed: config.edge,
    })
    const answers = addGatewayErrors(nested, api, this.baseUrl)
    const stage = addStage(nested, api, config, [...methods, ...answers], logs, routes)
    if (config.waf && !config.edge) {
      const { arn: webAclArn } = new WebAcl(this, 'WebAcl', { scope: 'REGIONAL', config })
      new CfnWebACLAssociation(nested, 'WebAclAssociation', { webAclArn, resourceArn: stage.stageArn })
    }
    if (this.edgeKeys !== undefined) acceptEdgeKeys(nested, this, api, stage, this.edgeKeys)
    if (domain !== undefined) new BasePathMapping(nested, 'DomainMapping', { domainName: domain, restApi: api, stage })
    return nested
  }
}

/** Applies a stage's settings to the queues. */
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

function resourcesOf(
  data: DataStack,
  messaging: Messaging,
  { conditionKeys, mailFrom }: Config,
  sockets: Sockets | undefined,
): Resources {
  return {
    table: data.table.tableArn,
    auditTable: data.auditTable.tableArn,
    stream: data.table.tableStreamArn ?? '',
    bucket: data.bucketArn,
    keyBucket: data.keyBucketArn,
    auditBucket: data.auditBucketArn,
    bus: messaging.bus.eventBusArn,
    keyrings: data.keyringArns,
    telegramBot: data.telegramBotArn,
    languageModel: data.languageModelArn,
    mail: {
      identities: data.formatArn({ service: 'ses', resource: 'identity', resourceName: '*' }),
      from: mailFrom ?? 'none@invalid',
    },
    queues: byQueue(messaging, (queue) => queue.queueArn),
    connections: sockets === undefined ? [] : [sockets.connections('POST'), sockets.connections('DELETE')],
    conditionKeys,
  }
}

function surroundingsOf(
  config: Config,
  data: DataStack,
  messaging: Messaging,
  baseUrl: string,
  sockets: Sockets | undefined,
): Surroundings {
  return {
    baseUrl,
    socketsUrl: sockets?.url,
    tableName: data.table.tableName,
    auditTableName: data.auditTable.tableName,
    bucketName: data.bucket.bucketName,
    keyBucketName: data.keyBucket.bucketName,
    auditBucketName: data.auditBucket.bucketName,
    busName: messaging.bus.eventBusName,
    secretArns: Object.fromEntries(RING_NAMES.map((ring) => [ring, data.keyrings[ring].secretArn])) as Record<
      RingName,
      string
    >,
    telegramBotSecretArn: data.telegramBot.secretArn,
    languageModelSecretArn: data.languageModel?.secretArn,
    // CloudFormation prefixes the names of a stack's alarms with the stack's name.
    alarmPrefix: `${config.prefix}-${config.stage}-Operations-`,
    queueUrls: byQueue(messaging, (queue) => queue.queueUrl),
  }
}

type Queue = Messaging['queues'] extends Map<QueueName, infer Item> ? Item : never

const byQueue = (messaging: Messaging, read: (queue: Queue) => string) =>
  Object.fromEntries([...messaging.queues].map(([name, queue]) => [name, read(queue)])) as Record<QueueName, string>

const sourcesOf = ({ workers }: FunctionPlan, resources: Resources, messaging: Messaging): Source[] =>
  workers.flatMap((worker): Source[] => {
    if (worker.source.kind === 'stream') {
      return [{ kind: 'stream', failures: worker.source.setsAside ? messaging.unrelayed.queueArn : undefined }]
    }
    if (worker.source.kind === 'queue') return [{ kind: 'queue', queue: resources.queues[worker.source.queue] }]
    if (worker.source.kind === 'sockets') return []
    const again = messaging.againOf(worker)
    return again ? [{ kind: 'queue', queue: again.queueArn }] : []
  })
