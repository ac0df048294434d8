import { Duration, type RemovalPolicy } from 'aws-cdk-lib'
import { Alarm, ComparisonOperator, type Metric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch'
import { LambdaApplication, LambdaDeploymentConfig, LambdaDeploymentGroup } from 'aws-cdk-lib/aws-codedeploy'
import { type IRole, ManagedPolicy, PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import type { IFunction, Tracing } from 'aws-cdk-lib/aws-lambda'
import type { RetentionDays } from 'aws-cdk-lib/aws-logs'
import { Construct } from 'constructs'
import { type ApiNames, apiMetric } from './api-metrics.ts'
import { LIVE, type PlatformFunction } from './functions.ts'
import { acknowledge } from './nag.ts'
import { Checker } from './rollout/checker.ts'
import { type Pace, STEPS } from './rollout/pace.ts'
import { crashes } from './rollout/signals.ts'

export type RolloutProps = ApiNames & {
  functions: readonly PlatformFunction[]
  pace: Exclude<Pace, 'allAtOnce'>
  tracing: Tracing
  logRetentionDays: RetentionDays
  removalPolicy: RemovalPolicy
}

/** So many bad minutes of so many. */
type Limit = { above: number; bad: number; of: number; description: string }

/**
 * Moves each function's traffic to its new version by steps: CodeDeploy checks the version, gives it a part, watches, and gives it
 * the rest or takes everything back. One that is taken back fails the stack's update, so that CloudFormation takes back the other
 * functions, too.
 */
export class Rollout extends Construct {
  constructor(scope: Construct, id: string, props: RolloutProps) {
    super(scope, id)
    const { functions, pace } = props
    const application = new LambdaApplication(this, 'Application')
    const lambdas = functions.map(({ lambda }) => lambda)
    const { lambda: preHook } = new Checker(this, 'Check', { ...props, application, functions: lambdas })
    const role = this.#role(preHook)
    const answers = this.#alarm(
      'ServerErrors',
      apiMetric(props, '5XXError', { statistic: 'Sum', period: Duration.minutes(1) }),
      {
        above: 5,
        bad: 1,
        of: 1,
        description: 'Requests are answered with a 5xx: deployments of functions that serve them are taken back.',
      },
    )
    for (const { lambda, live, plan, node } of functions) {
      const crashed = this.#alarm(`${node.id}Crashes`, crashes(lambda, LIVE), {
        above: 0,
        // One crash alone says nothing of a version.
        bad: 2,
        of: 5,
        description: `The new version of functions/${plan.name} crashes: its deployment is taken back.`,
      })
      new LambdaDeploymentGroup(this, `${node.id}Group`, {
        application,
        alias: live,
        deploymentConfig: LambdaDeploymentConfig[STEPS[pace]],
        role,
        preHook,
        alarms: plan.worker === undefined ? [crashed, answers] : [crashed],
        autoRollback: { failedDeployment: true, stoppedDeployment: true, deploymentInAlarm: true },
      })
    }
  }

  /** Without an action of its own: CodeDeploy looks at it, and whoever deploys is told by the deployment. */
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

  /** CodeDeploy's: moves aliases, looks at alarms, and asks the check. */
  #role(check: IFunction): IRole {
    const role = new Role(this, 'Role', {
      description: 'What CodeDeploy may do to roll functions out',
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
        'What CodeDeploy asks for; AWS keeps it as the service changes.',
    })
    // Each of the groups would add the policy once more.
    return role.withoutPolicyUpdates()
  }
}
