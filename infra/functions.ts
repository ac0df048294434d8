import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type CfnResource, Duration, RemovalPolicy } from 'aws-cdk-lib'
import { PolicyDocument, type PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import {
  Alias,
  Architecture,
  Code,
  Function as LambdaFunction,
  LoggingFormat,
  RecursiveLoop,
  Runtime,
  Tracing,
} from 'aws-cdk-lib/aws-lambda'
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs'
import { Construct } from 'constructs'
import type { Capability } from '#shared/kernel/capabilities.ts'
import { ConfigError } from './config.ts'
import { permissions, type Resources, type Source, WILDCARDS } from './grants.ts'
import { acknowledge, wildcardFinding } from './nag.ts'
import { type FunctionPlan, pascal } from './plan.ts'

export type PlatformFunctionProps = {
  plan: FunctionPlan
  /** The folder that holds `<name>/index.cjs`. */
  bundles: string
  environment: Record<string, string>
  resources: Resources
  source: Source
  tracing: Tracing
  logRetentionDays: RetentionDays
  reservedConcurrency: number | undefined
  /** Executions of the live version that are kept warm. */
  provisionedConcurrency: number | undefined
  removalPolicy: RemovalPolicy
}

/** The alias that callers, event sources and schedules reach: it moves from one published version to the next. */
export const LIVE = 'live'

/** One Lambda function with its log group and a role of its own that may do what the function declares, and nothing else. */
export class PlatformFunction extends Construct {
  readonly lambda: LambdaFunction
  readonly live: Alias
  readonly plan: FunctionPlan

  constructor(scope: Construct, props: PlatformFunctionProps) {
    super(scope, `${pascal(props.plan.name)}Function`)
    const { plan } = props
    this.plan = plan
    const asset = join(props.bundles, plan.name)
    if (!existsSync(join(asset, 'index.cjs'))) {
      throw new ConfigError(`functions/${plan.name} is not bundled: run npm run build`)
    }
    const logGroup = new LogGroup(this, 'Logs', {
      retention: props.logRetentionDays,
      removalPolicy: props.removalPolicy,
    })
    const statements = permissions(plan.capabilities, props.resources, props.source, {
      logGroup: logGroup.logGroupArn,
      traced: props.tracing === Tracing.ACTIVE,
    })
    const role = new Role(this, 'Role', {
      description: `What functions/${plan.name} may do`,
      assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
      inlinePolicies: { capabilities: new PolicyDocument({ statements }) },
    })
    this.lambda = new LambdaFunction(this, 'Function', {
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      code: Code.fromAsset(asset),
      handler: 'index.handler',
      // What other constructs would add to the role stays out: it has what the function declares.
      role: role.withoutPolicyUpdates(),
      logGroup,
      // The functions write JSON themselves; Lambda's own JSON format would wrap each line a second time.
      loggingFormat: LoggingFormat.TEXT,
      tracing: props.tracing,
      memorySize: plan.memoryMb,
      timeout: Duration.seconds(plan.timeoutSeconds),
      environment: props.environment,
      ...(requeues(plan) && { recursiveLoop: RecursiveLoop.ALLOW }),
      ...(props.reservedConcurrency !== undefined && { reservedConcurrentExecutions: props.reservedConcurrency }),
      currentVersionOptions: {
        // Earlier versions stay, to go back to at once; that of a deployment that failed does not, or the next could not publish it.
        removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
      },
    })
    this.live = new Alias(this, 'Live', {
      aliasName: LIVE,
      version: this.lambda.currentVersion,
      ...(props.provisionedConcurrency !== undefined && {
        provisionedConcurrentExecutions: props.provisionedConcurrency,
      }),
      // Only the schedule invokes asynchronously, and the next minute does the work again.
      ...(plan.worker?.source.kind === 'schedule' && { retryAttempts: 0 }),
    })
    // Whoever reads the template (the local run, `sam local invoke`) finds the function by a plain name, and its folder.
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
        'Invoked by the API, by event sources that keep failures themselves, or by a schedule that repeats.',
      // For who sets `tracing` to false.
      'Serverless-LambdaTracing': 'A setting, true unless the operator says otherwise.',
    })
    for (const invoked of [this.lambda, this.live]) {
      acknowledge(invoked, {
        'Serverless-LambdaAsyncFailureDestination':
          'Invoked by the API, by event sources, or by a schedule that repeats.',
      })
    }
  }
}

/** Whether a worker sends to the queue that it reads from; Lambda would stop that after 16 rounds. The record bounds the loop. */
const requeues = ({ worker, capabilities }: FunctionPlan): boolean =>
  worker?.source.kind === 'queue' && capabilities.includes(`queue:${worker.source.queue}` satisfies Capability)
