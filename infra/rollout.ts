import type { RemovalPolicy } from 'aws-cdk-lib'
import { Alarm, ComparisonOperator, type Metric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch'
import { LambdaApplication, LambdaDeploymentConfig, LambdaDeploymentGroup } from 'aws-cdk-lib/aws-codedeploy'
import { type IRole, ManagedPolicy, PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import type { CfnAlias, IFunction, Tracing } from 'aws-cdk-lib/aws-lambda'
import type { RetentionDays } from 'aws-cdk-lib/aws-logs'
import { Construct } from 'constructs'
import { LIVE, type PlatformFunction } from './functions.ts'
import { acknowledge } from './nag.ts'
import { Checker } from './rollout/checker.ts'
import { type Pace, STEPS } from './rollout/pace.ts'
import { crashes, serverErrors } from './rollout/signals.ts'

export type RolloutProps = {
  stageName: string
  functions: readonly PlatformFunction[]
  pace: Exclude<Pace, 'allAtOnce'>
  tracing: Tracing
  logRetentionDays: RetentionDays
  removalPolicy: RemovalPolicy
  kmsKeyArn: string | undefined
}

/** Limit of a metric: `bad` of `of` minutes above `above`. */
type Limit = { above: number; bad: number; of: number; description: string }

/** Number of functions that change their version at the same time. */
const WAVE = 4

/**
 * Moves the traffic of functions that serve requests to their new versions in steps, a few functions at a time. CodeDeploy checks the
 * version, gives it a part of the traffic, watches its alarms, and gives it the rest or rolls back. A rollback fails the stack's update,
 * and CloudFormation then rolls back the functions that had already moved.
 *
 * Workers change at once: their queues keep what a broken version fails on.
 *
 * Every alarm watches the new version alone. CodeDeploy refuses deployments while an alarm of their group is on, and CloudFormation's
 * rollback is one: it points the alarms at the old version first, so no error of the new one can refuse it.
 */
export class Rollout extends Construct {
  constructor(scope: Construct, id: string, props: RolloutProps) {
    super(scope, id)
    const { pace, stageName } = props
    const functions = props.functions.filter(({ plan }) => plan.workers.length === 0)
    const application = new LambdaApplication(this, 'Application')
    const lambdas = functions.map(({ lambda }) => lambda)
    const { lambda: preHook } = new Checker(this, 'Check', { ...props, application, functions: lambdas })
    acknowledge(this, {
      'NIST.800.53.R5-CloudWatchAlarmAction': 'CodeDeploy watches these alarms and rolls back. They notify nobody.',
    })
    const role = this.#role(preHook)
    for (const [i, { lambda, live, plan, node }] of functions.entries()) {
      const crashed = this.#alarm(`${node.id}Crashes`, crashes(lambda, LIVE), {
        above: 0,
        // A single crash says nothing about a version.
        bad: 2,
        of: 5,
        description: `The new version of ${plan.name} crashes. Its deployment is rolled back.`,
      })
      const failed = this.#alarm(`${node.id}Errors`, serverErrors(lambda, stageName), {
        above: 5,
        bad: 1,
        of: 1,
        description: `The new version of ${plan.name} answers with a 5xx. Its deployment is rolled back.`,
      })
      new LambdaDeploymentGroup(this, `${node.id}Group`, {
        application,
        alias: live,
        deploymentConfig: LambdaDeploymentConfig[STEPS[pace]],
        role,
        preHook,
        alarms: [crashed, failed],
        autoRollback: { failedDeployment: true, stoppedDeployment: true, deploymentInAlarm: true },
      })
      const wave = Math.floor(i / WAVE)
      for (const before of functions.slice(Math.max(0, wave - 1) * WAVE, wave * WAVE))
        (live.node.defaultChild as CfnAlias).addResourceDependency(before.live.node.defaultChild as CfnAlias)
    }
  }

  /** Adds an alarm without actions. CodeDeploy watches it and reports failures in the deployment. */
  #alarm(id: string, metric: Metric, { above, bad, of, description }: Limit): Alarm {
    return new Alarm(this, id, {
      metric,
      threshold: above,
      evaluationPeriods: of,
      datapointsToAlarm: bad,
      comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
      treatMissingData: TreatMissingData.NOT_BREACHING,
      alarmDescription: description,
    })
  }

  /** Creates the role of CodeDeploy, which moves aliases, reads alarms and invokes the check. */
  #role(check: IFunction): IRole {
    const role = new Role(this, 'Role', {
      description: 'Permissions of CodeDeploy to roll out functions',
      assumedBy: new ServicePrincipal('codedeploy.amazonaws.com'),
      managedPolicies: [ManagedPolicy.fromAwsManagedPolicyName('service-role/AWSCodeDeployRoleForLambdaLimited')],
      inlinePolicies: {
        check: new PolicyDocument({
          statements: [new PolicyStatement({ actions: ['lambda:InvokeFunction'], resources: [check.functionArn] })],
        }),
      },
    })
    acknowledge(role, {
      'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSCodeDeployRoleForLambdaLimited]':
        'AWS maintains this policy for CodeDeploy and changes it with the service.',
    })
    // Each deployment group would add the policy again.
    return role.withoutPolicyUpdates()
  }
}
