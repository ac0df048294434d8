import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type CfnResource, Duration, type RemovalPolicy } from 'aws-cdk-lib'
import { PolicyDocument, type PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import {
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
  logRetentionDays: RetentionDays
  reservedConcurrency: number | undefined
  removalPolicy: RemovalPolicy
}

/** One Lambda function with its log group and a role of its own that may do what the function declares, and nothing else. */
export class PlatformFunction extends Construct {
  readonly lambda: LambdaFunction
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
    const statements = permissions(plan.capabilities, props.resources, props.source, logGroup.logGroupArn)
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
      tracing: Tracing.ACTIVE,
      memorySize: plan.memoryMb,
      timeout: Duration.seconds(plan.timeoutSeconds),
      environment: props.environment,
      ...(requeues(plan) && { recursiveLoop: RecursiveLoop.ALLOW }),
      ...(props.reservedConcurrency !== undefined && { reservedConcurrentExecutions: props.reservedConcurrency }),
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
      'Serverless-LambdaAsyncFailureDestination':
        'Invoked by the API, by event sources, or by a schedule that repeats.',
    })
  }
}

/** Whether a worker sends to the queue that it reads from; Lambda would stop that after 16 rounds. The record bounds the loop. */
const requeues = ({ worker, capabilities }: FunctionPlan): boolean =>
  worker?.source.kind === 'queue' && capabilities.includes(`queue:${worker.source.queue}` satisfies Capability)
