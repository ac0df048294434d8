import { Stack } from 'aws-cdk-lib'
import { Alarm, ComparisonOperator, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch'
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions'
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { Topic } from 'aws-cdk-lib/aws-sns'
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions'
import { Construct } from 'constructs'
import { acknowledge } from './nag.ts'
import type { Watch } from './watches/watch.ts'

export type AlarmsProps = {
  watches: readonly Watch[]
  email: string | undefined
  /** The operator's topic, which receives alarms in addition to the stack's own. */
  topicArn: string | undefined
}

/** Alarms for work that isn't done. Each one is something that a person can investigate. */
export class Alarms extends Construct {
  readonly topic: Topic
  /** Alarms in the order of the watches. */
  readonly alarms: Alarm[]

  constructor(scope: Construct, id: string, { watches, email, topicArn }: AlarmsProps) {
    super(scope, id)
    this.topic = new Topic(this, 'Topic', { displayName: 'Alarms of the platform', enforceSSL: true })
    // The policy that enforces TLS replaces SNS's default policy, which lets the account's alarms publish.
    this.topic.addToResourcePolicy(
      new PolicyStatement({
        sid: 'Alarms',
        principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
        actions: ['sns:Publish'],
        resources: [this.topic.topicArn],
        conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(this).account } },
      }),
    )
    if (email !== undefined) this.topic.addSubscription(new EmailSubscription(email))
    acknowledge(this.topic, {
      'AwsSolutions-SNS2':
        'Alarms contain metrics only. CloudWatch can’t publish to a topic encrypted with the managed key of SNS.',
      'Serverless-SNSRedrivePolicy': 'Sends e-mail only, which has no dead-letter queue.',
    })
    const others = topicArn === undefined ? [] : [Topic.fromTopicArn(this, 'OtherTopic', topicArn)]
    const actions = [this.topic, ...others].map((topic) => new SnsAction(topic))
    this.alarms = watches.map((watch) => {
      const alarm = this.#alarm(watch)
      alarm.addAlarmAction(...actions)
      // A tool that opens tickets from alarms also closes them.
      alarm.addOkAction(...actions)
      return alarm
    })
  }

  #alarm({ id, metric, limit, below, breaching, of, ...watch }: Watch): Alarm {
    return new Alarm(this, id, {
      metric,
      threshold: limit,
      evaluationPeriods: of,
      datapointsToAlarm: breaching,
      comparisonOperator: below ? ComparisonOperator.LESS_THAN_THRESHOLD : ComparisonOperator.GREATER_THAN_THRESHOLD,
      // Missing data is a breach for something that has to happen. Failures report nothing while there are none.
      treatMissingData: below ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
      alarmDescription: descriptionOf(watch),
    })
  }
}

/** Starts with the severity: subscriptions filter on it, and `GET /admin/health` tells failing from degraded by it. */
const descriptionOf = ({ severity, description, kind }: Pick<Watch, 'severity' | 'description' | 'kind'>): string =>
  `[${severity}] ${description} docs/runbook.md#${kind}`
