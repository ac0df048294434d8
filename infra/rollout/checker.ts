import { fileURLToPath } from 'node:url'
import { ArnFormat, Duration, type RemovalPolicy, Stack } from 'aws-cdk-lib'
import type { LambdaApplication } from 'aws-cdk-lib/aws-codedeploy'
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { Architecture, Code, Function as LambdaFunction, LoggingFormat, Runtime, Tracing } from 'aws-cdk-lib/aws-lambda'
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs'
import { Construct } from 'constructs'
import { encryption } from '../encryption.ts'
import { WILDCARDS } from '../grants.ts'
import { acknowledge, wildcardFinding } from '../nag.ts'

export type CheckerProps = {
  application: LambdaApplication
  /** Functions whose versions it may invoke. */
  functions: readonly LambdaFunction[]
  tracing: Tracing
  logRetentionDays: RetentionDays
  removalPolicy: RemovalPolicy
  kmsKeyArn: string | undefined
}

/** Function that CodeDeploy invokes before a new version gets traffic (`check/index.cjs`), with a separate role. */
export class Checker extends Construct {
  readonly lambda: LambdaFunction

  constructor(scope: Construct, id: string, props: CheckerProps) {
    super(scope, id)
    const { logRetentionDays, removalPolicy, tracing } = props
    const logGroup = new LogGroup(this, 'Logs', {
      ...encryption(this, props),
      retention: logRetentionDays,
      removalPolicy,
    })
    const statements = this.#statements(props, logGroup)
    const role = new Role(this, 'Role', {
      description: 'Permissions of the check of new versions',
      assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
      inlinePolicies: { check: new PolicyDocument({ statements }) },
    })
    this.lambda = new LambdaFunction(this, 'Function', {
      description: 'Invokes a new version before it gets traffic',
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      code: Code.fromAsset(fileURLToPath(new URL('./check', import.meta.url))),
      handler: 'index.handler',
      role: role.withoutPolicyUpdates(),
      logGroup,
      loggingFormat: LoggingFormat.TEXT,
      tracing,
      memorySize: 256,
      // The slowest function's timeout, plus time for the report.
      timeout: Duration.minutes(6),
    })
    for (const { sid, resources } of statements) {
      const reason =
        WILDCARDS[sid ?? ''] ?? 'Versions and deployment groups get their numbers and names when they are created.'
      for (const resource of resources.filter((arn) => arn.endsWith('*')))
        acknowledge(role, { [wildcardFinding(this, resource)]: reason })
    }
    acknowledge(role, {
      'Serverless-LambdaStarPermissions': 'Each wildcard is acknowledged separately, with its reason.',
    })
    acknowledge(this.lambda, {
      'Serverless-LambdaTracing': 'Tracing is a setting, off by default.',
      'Serverless-LambdaDLQ': 'CodeDeploy waits for its report and treats a missing one as a failure.',
      'Serverless-LambdaAsyncFailureDestination':
        'CodeDeploy waits for its report and treats a missing one as a failure.',
    })
  }

  #statements({ application, functions, tracing }: CheckerProps, logGroup: LogGroup): PolicyStatement[] {
    const { applicationName } = application
    const codedeploy = (resource: string, resourceName: string) =>
      Stack.of(this).formatArn({
        service: 'codedeploy',
        resource,
        resourceName,
        arnFormat: ArnFormat.COLON_RESOURCE_NAME,
      })
    const allow = (sid: string, actions: string[], resources: string[]) =>
      new PolicyStatement({ sid, actions, resources })
    return [
      allow(
        'FollowDeployments',
        ['codedeploy:GetDeployment', 'codedeploy:PutLifecycleEventHookExecutionStatus'],
        [codedeploy('deploymentgroup', `${applicationName}/*`)],
      ),
      allow('ReadRevisions', ['codedeploy:GetApplicationRevision'], [codedeploy('application', applicationName)]),
      allow(
        'InvokeVersions',
        ['lambda:InvokeFunction'],
        functions.map(({ functionArn }) => `${functionArn}:*`),
      ),
      allow('WriteLogs', ['logs:CreateLogStream', 'logs:PutLogEvents'], [`${logGroup.logGroupArn}:*`]),
      ...(tracing === Tracing.ACTIVE
        ? [allow('WriteTraces', ['xray:PutTraceSegments', 'xray:PutTelemetryRecords'], ['*'])]
        : []),
    ]
  }
}
