import { Aws, CfnOutput, Duration, Stack } from 'aws-cdk-lib'
import {
  type Alarm,
  AlarmStatusWidget,
  Dashboard,
  GraphWidget,
  type IAlarm,
  type IMetric,
  type IWidget,
  MathExpression,
  Metric,
  type MetricOptions,
  Stats,
  TextWidget,
} from 'aws-cdk-lib/aws-cloudwatch'
import { Construct } from 'constructs'
import { CALLEE_DIMENSION, CALLEE_KINDS, NO_ANSWER } from '#shared/kernel/metrics.ts'
import { apiMetric } from './api-metrics.ts'
import type { Burn } from './watches/error-budget.ts'
import { KINDS, type Kind, platformMetric, type Severity, type Watch, type Watched } from './watches/watch.ts'

export type OverviewProps = Watched & {
  watches: readonly Watch[]
  alarms: readonly Alarm[]
  burns: readonly Burn[]
  burning: readonly IAlarm[]
}

/** Maximum number of alarms in one widget of CloudWatch. */
const ALARMS_IN_ONE = 100
const WIDTH = 24
const minute = Duration.minutes(1)

/** Dashboard of the whole stage: active alarms, the metrics that they watch with their limits, and billed usage. */
export class Overview extends Construct {
  constructor(scope: Construct, id: string, props: OverviewProps) {
    super(scope, id)
    const dashboard = new Dashboard(this, 'Dashboard', {
      defaultInterval: Duration.hours(3),
      widgets: [
        ...alarmRows(props),
        [heading('Requests')],
        requestRow(props),
        [heading('Metrics behind the alarms')],
        ...inRows(shownKinds(props).map((kind) => kindGraph(kind, watchesOf(props)))),
        [heading('Work')],
        ...inRows(workGraphs(props)),
        [heading('Table')],
        ...inRows(tableGraphs(props)),
        [heading('Billed usage')],
        ...inRows(paidGraphs(props)),
      ],
    })
    new CfnOutput(this, 'DashboardUrl', {
      value: `https://${Aws.REGION}.console.aws.amazon.com/cloudwatch/home?region=${Aws.REGION}#dashboards/dashboard/${dashboard.dashboardName}`,
      description: 'The stage at a glance',
    }).overrideLogicalId('DashboardUrl')
  }
}

/** Returns the watches of all alarms. Those on the error budget show their long window. */
const watchesOf = ({ watches, burns }: OverviewProps): Watch[] => [...watches, ...burns]

const shownKinds = (props: OverviewProps): Kind[] => {
  const kinds = new Set(watchesOf(props).map(({ kind }) => kind))
  return (Object.keys(KINDS) as Kind[]).filter((kind) => kinds.has(kind))
}

const heading = (text: string): IWidget => new TextWidget({ markdown: `## ${text}`, width: WIDTH, height: 1 })

const graph = (title: string, left: IMetric[], more: { right?: IMetric[]; stacked?: boolean } = {}): IWidget =>
  new GraphWidget({ title, left, ...more, width: WIDTH / 3, height: 6 })

/** Arranges widgets in rows of three. */
const inRows = (widgets: IWidget[]): IWidget[][] =>
  widgets.flatMap((_, i) => (i % 3 === 0 ? [widgets.slice(i, i + 3)] : []))

const alarmRows = ({ watches, alarms, burns, burning }: OverviewProps): IWidget[][] => {
  const some = (title: string, severity: Severity) => {
    const shown: IAlarm[] = [
      ...burning.filter((_, i) => burns[i]?.severity === severity),
      ...alarms.filter((_, i) => watches[i]?.severity === severity),
    ]
    return shown.length === 0
      ? []
      : parts(shown).map((part) => new AlarmStatusWidget({ title, alarms: part, width: WIDTH }))
  }
  return [some('Alarms that page', 'page'), some('Alarms that open tickets', 'ticket')].flatMap((row) =>
    row.map((widget) => [widget]),
  )
}

const parts = <T>(all: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(all.length / ALARMS_IN_ONE) }, (_, i) =>
    all.slice(i * ALARMS_IN_ONE, (i + 1) * ALARMS_IN_ONE),
  )

/** Graph of all metrics behind one kind of alarm, with the limit as a line. */
const kindGraph = (kind: Kind, watches: readonly Watch[]): IWidget => {
  const ofKind = watches.filter((watch) => watch.kind === kind)
  const limits = [...new Set(ofKind.map(({ limit }) => limit))]
  return new GraphWidget({
    title: KINDS[kind],
    left: ofKind.flatMap(({ metric, label, lines }): IMetric[] =>
      lines ? [...lines] : [metric instanceof Metric ? metric.with({ label }) : metric.with({ label })],
    ),
    leftAnnotations: limits.filter((limit) => limit > 0).map((value) => ({ value, label: 'alarm', color: '#d62728' })),
    leftYAxis: { min: 0 },
    width: WIDTH / 3,
    height: 6,
  })
}

const requestRow = ({ api }: OverviewProps): IWidget[] => {
  const latency = (statistic: string) => apiMetric(api, 'Latency', { period: minute, statistic, label: statistic })
  const sum = { period: minute, statistic: Stats.SUM }
  return [
    graph('Requests', [apiMetric(api, 'Count', sum)]),
    graph('Latency, including waits for agents', [latency('p50'), latency('p90'), latency('p99')]),
    graph('Refused and failed requests', [
      apiMetric(api, '4XXError', { ...sum, label: '4xx' }),
      apiMetric(api, '5XXError', { ...sum, label: '5xx' }),
    ]),
  ]
}

const workGraphs = ({ stageName, messaging, functions }: OverviewProps): IWidget[] => {
  const ofQueues = (
    metric: 'metricApproximateNumberOfMessagesVisible' | 'metricNumberOfMessagesDeleted',
    statistic: string,
  ) => [...messaging.queues].map(([name, queue]) => queue[metric]({ period: minute, statistic, label: name }))
  const ofFunctions = (name: string, statistic: string) =>
    functions.map(({ lambda, plan }) => lambda.metric(name, { period: minute, statistic, label: plan.name }))
  return [
    graph(
      'Runs dispatched, webhooks sent, model turns',
      CALLEE_KINDS.map((called) =>
        platformMetric(
          stageName,
          NO_ANSWER,
          { [CALLEE_DIMENSION]: called },
          { period: minute, statistic: Stats.SAMPLE_COUNT, label: called },
        ),
      ),
    ),
    graph('Waiting messages', ofQueues('metricApproximateNumberOfMessagesVisible', Stats.MAXIMUM)),
    graph('Messages done', ofQueues('metricNumberOfMessagesDeleted', Stats.SUM)),
    graph('Duration, p99', ofFunctions('Duration', 'p99')),
    graph('Concurrent executions', ofFunctions('ConcurrentExecutions', Stats.MAXIMUM), { stacked: true }),
    graph(
      'Events by rule',
      messaging.rules.map((rule) => ruleMetric(messaging.bus.eventBusName, rule.ruleName, rule.node.id)),
    ),
  ]
}

const ruleMetric = (EventBusName: string, RuleName: string, label: string): Metric =>
  new Metric({
    namespace: 'AWS/Events',
    metricName: 'MatchedEvents',
    dimensionsMap: label.startsWith('To') ? { EventBusName, RuleName } : { RuleName },
    statistic: Stats.SUM,
    period: minute,
    label,
  })

/** DynamoDB operations that the platform uses. */
const OPERATIONS = ['GetItem', 'BatchGetItem', 'Query', 'TransactWriteItems'] as const

const tableGraphs = ({ tables: [platform] }: OverviewProps): IWidget[] => {
  const metric = (metricName: string, dimensions: Record<string, string>, options: MetricOptions) =>
    new Metric({
      namespace: 'AWS/DynamoDB',
      metricName,
      dimensionsMap: { TableName: platform?.table.tableName ?? '', ...dimensions },
      period: minute,
      ...options,
    })
  const perOperation = (name: string, statistic: string) =>
    OPERATIONS.map((Operation) => metric(name, { Operation }, { statistic, label: Operation }))
  return [
    graph('Latency, p99', perOperation('SuccessfulRequestLatency', 'p99')),
    graph('DynamoDB errors', perOperation('SystemErrors', Stats.SUM)),
    graph('Transaction conflicts', [metric('TransactionConflict', {}, { statistic: Stats.SUM })]),
  ]
}

const paidGraphs = ({ api, functions, tables, messaging }: OverviewProps): IWidget[] => {
  const sum = { period: Duration.hours(1), statistic: Stats.SUM }
  const units = (what: 'Read' | 'Write') =>
    tables.map(
      ({ table, label }) =>
        new Metric({
          namespace: 'AWS/DynamoDB',
          metricName: `Consumed${what}CapacityUnits`,
          dimensionsMap: { TableName: table.tableName },
          ...sum,
          label: `${label} ${what.toLowerCase()}s`,
        }),
    )
  return [
    graph('Requests per hour', [apiMetric(api, 'Count', sum)]),
    graph('Table units per hour', [...units('Read'), ...units('Write')]),
    graph(
      'Invocations per hour',
      functions.map(({ lambda, plan }) => lambda.metricInvocations({ ...sum, label: plan.name })),
      { stacked: true },
    ),
    graph(
      'Messages per hour',
      [...messaging.queues].map(([name, queue]) => queue.metricNumberOfMessagesSent({ ...sum, label: name })),
      { stacked: true },
    ),
    graph(
      'Function milliseconds per hour',
      functions.map(({ lambda, plan }) => lambda.metricDuration({ ...sum, label: plan.name })),
      { stacked: true },
    ),
    graph('Log bytes per hour', [logBytes(messaging)]),
  ]
}

/** Sums over the log groups whose names start with the stack's name. */
const logBytes = (ofService: Construct): IMetric =>
  new MathExpression({
    expression: `SUM(SEARCH('{AWS/Logs,LogGroupName} MetricName="IncomingBytes" "${Stack.of(ofService).stackName}"', 'Sum'))`,
    period: Duration.hours(1),
    label: 'bytes',
  })
