import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type CfnResource, Duration, RemovalPolicy } from 'aws-cdk-lib'
import { PolicyDocument, type PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import {
  Alias,
  ApplicationLogLevel,
  Architecture,
  Code,
  Function as LambdaFunction,
  LayerVersion,
  LoggingFormat,
  RecursiveLoop,
  Runtime,
  SystemLogLevel,
  Tracing,
} from 'aws-cdk-lib/aws-lambda'
import { type ILogGroup, LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs'
import { Construct } from 'constructs'
import type { Capability } from '#shared/kernel/capabilities.ts'
import { ConfigError } from './config.ts'
import { encryption, keyRights } from './encryption.ts'
import { permissions, type Resources, type Source, WILDCARDS } from './grants.ts'
import { acknowledge, wildcardFinding } from './nag.ts'
import { type FunctionPlan, pascal } from './plan.ts'

export type PlatformFunctionProps = {
  plan: FunctionPlan
  /** Folder with `<name>/index.cjs`. */
  bundles: string
  environment: Record<string, string>
  resources: Resources
  sources: Source[]
  tracing: Tracing
  /** ARN of the layer with a collector of spans. */
  tracesLayer: string | undefined
  /** ARN of the secret with the headers for the receiver of spans. */
  tracesSecret: string | undefined
  logRetentionDays: RetentionDays
  reservedConcurrency: number | undefined
  /** Number of executions of the live version to keep warm. */
  provisionedConcurrency: number | undefined
  removalPolicy: RemovalPolicy
  kmsKeyArn: string | undefined
}

/** Alias that callers, event sources and schedules invoke. It moves from one published version to the next. */
export const LIVE = 'live'

/** Lambda function with a log group and a role that allows only what the function declares. */
export class PlatformFunction extends Construct {
  readonly lambda: LambdaFunction
  readonly live: Alias
  readonly plan: FunctionPlan
  readonly logGroup: ILogGroup

  constructor(scope: Construct, props: PlatformFunctionProps) {
    super(scope, `${pascal(props.plan.name)}Function`)
    const { plan } = props
    this.plan = plan
    const asset = join(props.bundles, plan.name)
    if (!existsSync(join(asset, 'index.cjs'))) {
      throw new ConfigError(`${plan.name} is not bundled: run npm run build`)
    }
    const logGroup = new LogGroup(this, 'Logs', {
      ...encryption(this, props),
      retention: props.logRetentionDays,
      removalPolicy: props.removalPolicy,
    })
    this.logGroup = logGroup
    const allowed = permissions(plan.capabilities, props.resources, props.sources, {
      logGroup: logGroup.logGroupArn,
      traced: props.tracing === Tracing.ACTIVE,
      tracesSecret: props.tracesSecret,
    })
    const statements = [...allowed, ...keyRights(this, allowed, props)]
    const role = new Role(this, 'Role', {
      description: `Permissions of the function ${plan.name}`,
      assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
      inlinePolicies: { capabilities: new PolicyDocument({ statements }) },
    })
    this.lambda = new LambdaFunction(this, 'Function', {
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      code: Code.fromAsset(asset),
      handler: 'index.handler',
      // Other constructs can't add to the role: it has only the permissions that the function declares.
      role: role.withoutPolicyUpdates(),
      logGroup,
      // The functions write JSON to standard output, which passes as it is. Lambda's own lines are JSON as well, and only those of
      // failed invocations are kept: `logLevel` filters the functions' lines.
      loggingFormat: LoggingFormat.JSON,
      systemLogLevelV2: SystemLogLevel.WARN,
      applicationLogLevelV2: ApplicationLogLevel.TRACE,
      tracing: props.tracing,
      ...(props.tracesLayer !== undefined && {
        layers: [LayerVersion.fromLayerVersionArn(this, 'Traces', props.tracesLayer)],
      }),
      memorySize: plan.memoryMb,
      timeout: Duration.seconds(plan.timeoutSeconds),
      environment: props.environment,
      ...(requeues(plan) && { recursiveLoop: RecursiveLoop.ALLOW }),
      ...(props.reservedConcurrency !== undefined && { reservedConcurrentExecutions: props.reservedConcurrency }),
      currentVersionOptions: {
        // Earlier versions are kept for rollbacks. The version of a failed deployment isn't, or the next one couldn't publish it.
        removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
      },
    })
    this.live = new Alias(this, 'Live', {
      aliasName: LIVE,
      version: this.lambda.currentVersion,
      ...(props.provisionedConcurrency !== undefined && {
        provisionedConcurrentExecutions: props.provisionedConcurrency,
      }),
      // Only the schedule invokes asynchronously, and its next round repeats the work.
      ...(plan.workers.some(({ source }) => source.kind === 'schedule') && { retryAttempts: 0 }),
    })
    // Lets readers of the template (the local run, `sam local invoke`) find the function by a plain name, and its folder.
    const resource = this.lambda.node.defaultChild as CfnResource
    resource.overrideLogicalId(this.node.id)
    resource.addMetadata('function', plan.name)
    this.#acknowledge(role, statements)
  }

  #acknowledge(role: Role, statements: PolicyStatement[]): void {
    for (const { sid, resources } of statements) {
      const reason = WILDCARDS[sid ?? '']
      for (const resource of reason === undefined ? [] : resources)
        acknowledge(role, { [wildcardFinding(this, resource)]: reason as string })
    }
    acknowledge(role, {
      'Serverless-LambdaStarPermissions': 'Each wildcard is acknowledged by itself, with its reason.',
    })
    acknowledge(this.lambda, {
      'Serverless-LambdaDLQ':
        'Invoked by the API, by event sources with their own failure handling, or by a schedule that repeats.',
      'Serverless-LambdaTracing': 'A setting, off unless the operator turns it on.',
    })
    for (const invoked of [this.lambda, this.live]) {
      acknowledge(invoked, {
        'Serverless-LambdaAsyncFailureDestination':
          'Invoked by the API, by event sources, or by a schedule that repeats.',
      })
    }
  }
}

/** Returns true if a worker sends to its own queue. Lambda would stop that after 16 rounds; the record limits the loop instead. */
const requeues = ({ workers, capabilities }: FunctionPlan): boolean =>
  workers.some(
    ({ source }) => source.kind === 'queue' && capabilities.includes(`queue:${source.queue}` satisfies Capability),
  )
