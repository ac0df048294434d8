import { fileURLToPath } from 'node:url'
import { CfnOutput, Duration, SecretValue } from 'aws-cdk-lib'
import { Rule, Schedule } from 'aws-cdk-lib/aws-events'
import { LambdaFunction as LambdaTarget } from 'aws-cdk-lib/aws-events-targets'
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import {
  ApplicationLogLevel,
  Architecture,
  Code,
  Function as LambdaFunction,
  LoggingFormat,
  Runtime,
  SystemLogLevel,
} from 'aws-cdk-lib/aws-lambda'
import { LogGroup } from 'aws-cdk-lib/aws-logs'
import { type CfnSecret, Secret, type SecretProps } from 'aws-cdk-lib/aws-secretsmanager'
import { Construct } from 'constructs'
import type { Config } from './config.ts'
import { encryption, keyRights } from './encryption.ts'
import { acknowledge, wildcardFinding } from './nag.ts'
import { retention } from './retention.ts'

export type JourneyProps = { config: Config; baseUrl: string }

/**
 * Client's journey over the platform's address every five minutes. A function of 128 MB costs cents a month, where a canary of
 * CloudWatch Synthetics costs $10 and brings a bucket and a runtime that has to be updated.
 */
export class Journey extends Construct {
  readonly lambda: LambdaFunction

  constructor(scope: Construct, id: string, { config, baseUrl }: JourneyProps) {
    super(scope, id)
    const removalPolicy = retention(config)
    const kept = { removalPolicy, ...encryption(this, config) }
    const appArn = config.journeyRun ? this.#app(kept) : undefined
    const logGroup = new LogGroup(this, 'Logs', { retention: config.logRetentionDays, ...kept })
    const logs = `${logGroup.logGroupArn}:*`
    const statements = [
      new PolicyStatement({
        sid: 'WriteLogs',
        actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
        resources: [logs],
      }),
      ...(appArn === undefined
        ? []
        : [
            new PolicyStatement({
              sid: 'ReadApp',
              actions: ['secretsmanager:GetSecretValue'],
              resources: [appArn],
            }),
          ]),
    ]
    const role = new Role(this, 'Role', {
      description: 'Permissions of the journey',
      assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
      inlinePolicies: {
        journey: new PolicyDocument({ statements: [...statements, ...keyRights(this, statements, config)] }),
      },
    })
    this.lambda = new LambdaFunction(this, 'Function', {
      description: 'Does what a client does, and logs whether it worked',
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      code: Code.fromAsset(fileURLToPath(new URL('./journey', import.meta.url))),
      handler: 'index.handler',
      role: role.withoutPolicyUpdates(),
      logGroup,
      loggingFormat: LoggingFormat.JSON,
      systemLogLevelV2: SystemLogLevel.WARN,
      applicationLogLevelV2: ApplicationLogLevel.INFO,
      memorySize: 128,
      timeout: Duration.minutes(1),
      // Lambda would repeat what failed, and the next journey does so anyway.
      retryAttempts: 0,
      environment: {
        BASE_URL: baseUrl,
        ...(appArn !== undefined && { APP_SECRET_ARN: appArn }),
      },
    })
    const rule = new Rule(this, 'Every', { schedule: Schedule.rate(Duration.minutes(5)) })
    // The next journey says more than a late one.
    rule.addTarget(new LambdaTarget(this.lambda, { retryAttempts: 0, maxEventAge: Duration.minutes(1) }))
    const missed = 'The next journey makes up for a missed one. An alarm reports repeated misses.'
    acknowledge(rule, { 'Serverless-EventBusDLQ': missed })
    acknowledge(this.lambda, {
      'Serverless-LambdaTracing': 'Traces of the platform begin at its API, as those of clients do.',
      'Serverless-LambdaDLQ': missed,
      'Serverless-LambdaAsyncFailureDestination': missed,
    })
    acknowledge(role, {
      [wildcardFinding(this, logs)]: 'Log streams get their names from Lambda.',
      'Serverless-LambdaStarPermissions': 'The wildcard is acknowledged separately, with its reason.',
    })
  }

  /** Adds an empty secret for the operator's app. @returns its ARN */
  #app(kept: Pick<SecretProps, 'removalPolicy' | 'encryptionKey'>): string {
    const app = new Secret(this, 'App', {
      ...kept,
      description: 'App whose run ends the journey: {app_id, developer_key}',
      secretStringValue: SecretValue.unsafePlainText(JSON.stringify({ app_id: '', developer_key: '' })),
    })
    acknowledge(app, {
      'AwsSolutions-SMG4': 'The platform issues the developer key, and the operator replaces it here.',
    })
    new CfnOutput(this, 'JourneyApp', {
      value: app.secretArn,
      description: 'Secret for the app whose run ends the journey, as {"app_id": "…", "developer_key": "…"}',
    }).overrideLogicalId('JourneyApp')
    return (app.node.defaultChild as CfnSecret).attrId
  }
}
