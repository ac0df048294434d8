import { Duration } from 'aws-cdk-lib'
import { MathExpression, Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch'
import { FAILED_INVOCATIONS, LONG_INVOCATIONS } from '#shared/kernel/metrics.ts'
import type { PlatformFunction } from '../functions.ts'
import type { Messaging } from '../messaging.ts'
import { pascal } from '../plan.ts'
import { inParts, platformMetric, type Watch, type Watched } from './watch.ts'

const minute = Duration.minutes(1)
const fewMinutes = Duration.minutes(5)

/** Time in ms within which 99 % of requests are answered that don't wait for an agent. */
const SLOW = 3_000

/**
 * Alarms on all functions at once, each over one metric. CloudWatch charges an alarm by its metrics, and a metric of each function
 * would be the largest part of the bill of a stage without traffic. Failures and long invocations are counted from the logs, and
 * such a metric costs something only in the hours in which it is written. Throttles aren't logged. They are those of the account,
 * whose executions all functions share.
 */
export const functionWatches = ({ stageName, functions }: Pick<Watched, 'stageName' | 'functions'>): Watch[] => [
  {
    id: 'FunctionErrors',
    label: 'failed',
    kind: 'failing-functions',
    severity: 'ticket',
    metric: platformMetric(stageName, FAILED_INVOCATIONS, {}, { period: minute, statistic: Stats.SUM }),
    lines: ofEach(functions, 'Errors'),
    limit: 0,
    breaching: 3,
    of: 15,
    description: 'A function fails.',
  },
  {
    id: 'FunctionThrottles',
    label: 'throttled',
    kind: 'throttled-functions',
    severity: 'ticket',
    metric: new Metric({ namespace: 'AWS/Lambda', metricName: 'Throttles', statistic: Stats.SUM, period: minute }),
    lines: ofEach(functions, 'Throttles'),
    limit: 0,
    breaching: 3,
    of: 15,
    description: 'A function of the account has no concurrency left.',
  },
  {
    id: 'FunctionDuration',
    label: 'long',
    kind: 'long-invocations',
    severity: 'ticket',
    metric: platformMetric(stageName, LONG_INVOCATIONS, {}, { period: fewMinutes, statistic: Stats.SUM }),
    limit: 0,
    breaching: 2,
    of: 3,
    description: 'A function takes almost as long as it may.',
  },
]

/** Returns a metric of each function, for graphs, which cost nothing for a metric. */
const ofEach = (functions: readonly PlatformFunction[], name: 'Errors' | 'Throttles'): Metric[] =>
  functions.map(({ lambda, plan }) => lambda.metric(name, { period: minute, statistic: Stats.SUM, label: plan.name }))

/** Names a metric in an expression. Expressions that are in the same graph need different names. */
const idIn = ({ plan }: PlatformFunction, name: string): string => {
  const title = `${pascal(plan.name)}${name}`
  return `${title.charAt(0).toLowerCase()}${title.slice(1)}`
}

/** Alarm on the duration of requests that wait for no one. */
export const latencyWatches = (functions: readonly PlatformFunction[]): Watch[] =>
  inParts(functions.filter(({ plan }) => plan.workers.length === 0 && !plan.waits)).map((part, i) => {
    const metrics = part.map(
      (one) =>
        [
          idIn(one, 'P99'),
          one.lambda.metric('Duration', { period: fewMinutes, statistic: 'p99', label: one.plan.name }),
        ] as const,
    )
    return {
      id: `SlowRequests${i === 0 ? '' : i + 1}`,
      label: 'p99',
      kind: 'slow-requests',
      severity: 'ticket',
      metric: new MathExpression({
        expression: `MAX([${metrics.map(([id]) => id).join(', ')}])`,
        usingMetrics: Object.fromEntries(metrics),
        period: fewMinutes,
      }),
      lines: metrics.map(([, metric]) => metric),
      limit: SLOW,
      breaching: 3,
      of: 3,
      description: `1 % of the requests to a function take longer than ${SLOW / 1_000} seconds.`,
    }
  })

/**
 * Alarm on the account's executions. Reserved ones count as used, because no other function can have them. All stages and
 * applications of the account share the limit.
 */
export const concurrencyWatch = (): Watch => ({
  id: 'AccountConcurrency',
  label: 'in use',
  kind: 'account-concurrency',
  severity: 'page',
  metric: new MathExpression({
    expression: '100 * claimed / SERVICE_QUOTA(used)',
    usingMetrics: {
      claimed: new Metric({
        namespace: 'AWS/Lambda',
        metricName: 'ClaimedAccountConcurrency',
        statistic: Stats.MAXIMUM,
        period: minute,
      }),
      used: new Metric({
        namespace: 'AWS/Usage',
        metricName: 'ResourceCount',
        dimensionsMap: { Type: 'Resource', Resource: 'ConcurrentExecutions', Service: 'Lambda', Class: 'None' },
        statistic: Stats.MAXIMUM,
        period: minute,
      }),
    },
    period: minute,
  }),
  limit: 90,
  breaching: 3,
  of: 5,
  description: 'More than 90 % of the account’s concurrent executions are in use.',
})

/** Alarms of the functions that the table's stream or a schedule invokes: delays, and missed rounds. */
export const sourceWatches = ({ lambda, plan }: PlatformFunction, { schedules }: Messaging): Watch[] => {
  const id = pascal(plan.name)
  const label = plan.name
  const found: Watch[] = []
  for (const { name, source } of plan.workers) {
    if (source.kind === 'stream') {
      found.push({
        id: `${id}IteratorAge`,
        label,
        kind: 'late-events',
        severity: 'page',
        metric: lambda.metric('IteratorAge', { period: minute, statistic: Stats.MAXIMUM }),
        limit: 60_000,
        breaching: 3,
        of: 3,
        description: `${name} handles the table’s new items more than a minute late.`,
      })
    }
    if (source.kind === 'schedule') {
      const period = Duration.minutes(5 * source.everyMinutes)
      const rule = plan.workers.length > 1 ? schedules.get(name) : undefined
      found.push({
        id: `${pascal(name)}Missing`,
        label: name,
        kind: 'missing-sweep',
        severity: 'page',
        // If other sources also invoke the function, only the rule's metric shows the schedule.
        metric: rule
          ? new Metric({
              namespace: 'AWS/Events',
              metricName: 'Invocations',
              dimensionsMap: { RuleName: rule.ruleName },
              statistic: Stats.SUM,
              period,
            })
          : lambda.metricInvocations({ period }),
        // Of five rounds, or of ten. In the latter case, the rounds of the schedule alone (at most six) are too few.
        limit: source.againAfterSeconds === undefined ? 1 : 7,
        below: true,
        // Metrics of the last minutes arrive late, and eight of ten is close to the limit. The previous period is complete.
        breaching: source.againAfterSeconds === undefined ? 1 : 2,
        of: source.againAfterSeconds === undefined ? 1 : 2,
        description: `${name} isn’t invoked as often as it should be, so overdue work stays undone.`,
      })
    }
  }
  return found
}
