import { Stack } from 'aws-cdk-lib'
import {
  Alarm,
  type AlarmBase,
  AlarmRule,
  type CfnCompositeAlarm,
  ComparisonOperator,
  CompositeAlarm,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch'
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions'
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import type { IKey } from 'aws-cdk-lib/aws-kms'
import { Topic } from 'aws-cdk-lib/aws-sns'
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions'
import { Construct } from 'constructs'
import { acknowledge } from './nag.ts'
import type { Burn } from './watches/error-budget.ts'
import type { Watch } from './watches/watch.ts'

export type AlarmsProps = {
  watches: readonly Watch[]
  burns: readonly Burn[]
  email: string | undefined
  /** The operator's topic, which receives alarms in addition to the stack's own. */
  topicArn: string | undefined
  encryptionKey?: IKey
}

/** Alarms for work that isn't done. Each one is something that a person can investigate. */
export class Alarms extends Construct {
  readonly topic: Topic
  /** Alarms in the order of the watches. */
  readonly alarms: Alarm[]
  /** Alarms in the order of the burns. */
  readonly burning: AlarmBase[]

  constructor(scope: Construct, id: string, { watches, burns, email, topicArn, encryptionKey }: AlarmsProps) {
    super(scope, id)
    this.topic = new Topic(this, 'Topic', {
      displayName: 'Alarms of the platform',
      enforceSSL: true,
      ...(encryptionKey && { masterKey: encryptionKey }),
    })
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
    const notifying = <T extends AlarmBase>(alarm: T): T => {
      alarm.addAlarmAction(...actions)
      // A tool that opens tickets from alarms also closes them.
      alarm.addOkAction(...actions)
      return alarm
    }
    this.alarms = watches.map((watch) => notifying(this.#alarm(watch, descriptionOf(watch))))
    this.burning = burns.map((burn) => notifying(this.#burning(burn)))
  }

  /** Adds an alarm over a long window. With a short one, it is on while both are, which notify no one by themselves. */
  #burning({ short, ...burn }: Burn): AlarmBase {
    if (short === undefined) return this.#alarm(burn, descriptionOf(burn))
    const long = { ...burn, id: `${burn.id}Long`, description: `Window of ${burn.label} of ${burn.id}.` }
    const parts = [long, short].map((window) => this.#alarm(window, window.description))
    for (const part of parts)
      acknowledge(part, {
        'NIST.800.53.R5-CloudWatchAlarmAction': 'A window by itself notifies nobody. The alarm over both does.',
      })
    const alarm = new CompositeAlarm(this, burn.id, {
      // By name, which the local run resolves.
      alarmRule: AlarmRule.fromString(parts.map(({ alarmName }) => `ALARM("${alarmName}")`).join(' AND ')),
      alarmDescription: descriptionOf(burn),
    })
    // CloudFormation then names it after the stack, as it names the others.
    const resource = alarm.node.defaultChild as CfnCompositeAlarm
    resource.addPropertyDeletionOverride('AlarmName')
    return alarm
  }

  #alarm(
    { id, metric, limit, below, expected, breaching, of }: Omit<Watch, 'severity'>,
    alarmDescription: string,
  ): Alarm {
    return new Alarm(this, id, {
      metric,
      threshold: limit,
      evaluationPeriods: of,
      datapointsToAlarm: breaching,
      comparisonOperator: below ? ComparisonOperator.LESS_THAN_THRESHOLD : ComparisonOperator.GREATER_THAN_THRESHOLD,
      // Missing data is a breach for something that has to happen. Failures report nothing while there are none.
      treatMissingData: below || expected ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
      alarmDescription,
    })
  }
}

/** Starts with the severity: subscriptions filter on it, and `GET /admin/health` tells failing from degraded by it. */
const descriptionOf = ({ severity, description, kind }: Pick<Watch, 'severity' | 'description' | 'kind'>): string =>
  `[${severity}] ${description} docs/runbook.md#${kind}`
