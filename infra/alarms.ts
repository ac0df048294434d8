import { Duration } from 'aws-cdk-lib'
import type { Stage } from 'aws-cdk-lib/aws-apigateway'
import { Alarm, ComparisonOperator, type IMetric, Metric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch'
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions'
import type { Table } from 'aws-cdk-lib/aws-dynamodb'
import { Topic } from 'aws-cdk-lib/aws-sns'
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions'
import { Construct } from 'constructs'
import type { PlatformFunction } from './functions.ts'
import type { Messaging } from './messaging.ts'
import { acknowledge } from './nag.ts'
import { pascal } from './plan.ts'

export type AlarmsProps = {
  stage: Stage
  functions: PlatformFunction[]
  messaging: Messaging
  table: Table
  email: string | undefined
}

type Limit = { above: number; for?: number; description: string; missing?: TreatMissingData; below?: true }

const minute = Duration.minutes(1)

/** Says when something is not done that should be: each alarm is one thing that somebody can look into. */
export class Alarms extends Construct {
  readonly topic: Topic

  constructor(scope: Construct, id: string, props: AlarmsProps) {
    super(scope, id)
    this.topic = new Topic(this, 'Topic', { displayName: 'Alarms of the platform', enforceSSL: true })
    if (props.email !== undefined) this.topic.addSubscription(new EmailSubscription(props.email))
    acknowledge(this.topic, {
      'AwsSolutions-SNS2':
        'Alarms hold metrics only; CloudWatch cannot publish to a topic under the managed key of SNS.',
      'Serverless-SNSRedrivePolicy': 'Sends e-mail only, which has no dead letters.',
    })

    this.#watchApi(props.stage)
    this.#watchTable(props.table)
    for (const item of props.functions) this.#watchFunction(item)
    this.#watchMessaging(props.messaging)
  }

  #alarm(id: string, metric: IMetric, { above, for: periods = 1, description, missing, below }: Limit): void {
    const alarm = new Alarm(this, id, {
      metric,
      threshold: above,
      evaluationPeriods: periods,
      comparisonOperator: below ? ComparisonOperator.LESS_THAN_THRESHOLD : ComparisonOperator.GREATER_THAN_THRESHOLD,
      treatMissingData: missing ?? TreatMissingData.NOT_BREACHING,
      alarmDescription: description,
    })
    alarm.addAlarmAction(new SnsAction(this.topic))
  }

  #watchApi(stage: Stage): void {
    const metric = stage.metricServerError({ period: minute, statistic: 'sum' })
    this.#alarm('ServerErrors', metric, { above: 5, for: 3, description: 'Requests are answered with a 5xx.' })
  }

  #watchTable(table: Table): void {
    const throttles = (metricName: string) =>
      new Metric({
        namespace: 'AWS/DynamoDB',
        metricName,
        dimensionsMap: { TableName: table.tableName },
        statistic: 'sum',
        period: minute,
      })
    const limit = { above: 0, for: 3, description: 'A key of the table is hot: requests are throttled.' }
    this.#alarm('TableReadThrottles', throttles('ReadThrottleEvents'), limit)
    this.#alarm('TableWriteThrottles', throttles('WriteThrottleEvents'), limit)
  }

  #watchFunction({ lambda, plan }: PlatformFunction): void {
    const id = pascal(plan.name)
    const errors = lambda.metricErrors({ period: minute })
    this.#alarm(`${id}Errors`, errors, { above: 0, for: 3, description: `functions/${plan.name} fails.` })
    const throttles = lambda.metricThrottles({ period: minute })
    this.#alarm(`${id}Throttles`, throttles, {
      above: 0,
      for: 3,
      description: `functions/${plan.name} has no concurrency left.`,
    })
    if (plan.worker?.source.kind === 'stream') {
      const age = lambda.metric('IteratorAge', { period: minute, statistic: 'max' })
      this.#alarm(`${id}IteratorAge`, age, {
        above: 60_000,
        for: 3,
        description: 'Events are relayed more than a minute late.',
      })
    }
    if (plan.worker?.source.kind === 'schedule') {
      const period = Duration.minutes(5 * plan.worker.source.everyMinutes)
      const invocations = lambda.metricInvocations({ period })
      const description = `functions/${plan.name} is not invoked: what is overdue stays so.`
      this.#alarm(`${id}Missing`, invocations, {
        above: 1,
        below: true,
        missing: TreatMissingData.BREACHING,
        description,
      })
    }
  }

  #watchMessaging({ queues, deadLetters, rules }: Messaging): void {
    for (const [name, queue] of queues) {
      const age = queue.metricApproximateAgeOfOldestMessage({ period: minute })
      this.#alarm(`${pascal(name)}Age`, age, {
        above: 300,
        for: 3,
        description: `The oldest message of ${name} waits for 5 minutes.`,
      })
    }
    for (const queue of deadLetters) {
      const depth = queue.metricApproximateNumberOfMessagesVisible({ period: minute })
      this.#alarm(`${queue.node.id}Depth`, depth, {
        above: 0,
        description: `${queue.node.id}: look at the messages, mend, and redrive them.`,
      })
    }
    for (const rule of rules) {
      const failed = new Metric({
        namespace: 'AWS/Events',
        metricName: 'FailedInvocations',
        dimensionsMap: { RuleName: rule.ruleName },
        statistic: 'sum',
        period: minute,
      })
      this.#alarm(`${rule.node.id}Failures`, failed, {
        above: 0,
        description: `The rule ${rule.node.id} cannot reach its target.`,
      })
    }
  }
}
