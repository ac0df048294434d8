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
  /** A topic of the operator's, told beside the stack's own. */
  topicArn: string | undefined
}

/** Says when something is not done that should be: each alarm is one thing that somebody can look into. */
export class Alarms extends Construct {
  readonly topic: Topic
  /** In the order of the watches. */
  readonly alarms: Alarm[]

  constructor(scope: Construct, id: string, { watches, email, topicArn }: AlarmsProps) {
    super(scope, id)
    this.topic = new Topic(this, 'Topic', { displayName: 'Alarms of the platform', enforceSSL: true })
    // The policy that enforces TLS takes the place of SNS's own, which lets the account's alarms in.
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
        'Alarms hold metrics only; CloudWatch cannot publish to a topic under the managed key of SNS.',
      'Serverless-SNSRedrivePolicy': 'Sends e-mail only, which has no dead letters.',
    })
    const others = topicArn === undefined ? [] : [Topic.fromTopicArn(this, 'OtherTopic', topicArn)]
    const actions = [this.topic, ...others].map((topic) => new SnsAction(topic))
    this.alarms = watches.map((watch) => {
      const alarm = this.#alarm(watch)
      alarm.addAlarmAction(...actions)
      // What opens a ticket by it closes it by it, too.
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
      // What has to happen breaches when nothing is heard of it; what must not happen is not measured while it does not.
      treatMissingData: below ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
      alarmDescription: descriptionOf(watch),
    })
  }
}

/** Its beginning is what subscriptions tell a page from a ticket by, and `GET /admin/health` what fails from what is degraded. */
const descriptionOf = ({ severity, description, kind }: Pick<Watch, 'severity' | 'description' | 'kind'>): string =>
  `[${severity}] ${description} docs/runbook.md#${kind}`
