import { type MathExpression, Metric, type MetricOptions } from 'aws-cdk-lib/aws-cloudwatch'
import type { ITable } from 'aws-cdk-lib/aws-dynamodb'
import { metricsNamespace } from '#shared/kernel/metrics.ts'
import type { ApiNames } from '../api-metrics.ts'
import type { PlatformFunction } from '../functions.ts'
import type { Messaging } from '../messaging.ts'

/** `page`: customers notice now, and it does not mend itself. `ticket`: somebody is to look at it within the day. */
export type Severity = 'page' | 'ticket'

/** What can be wrong, each with its section in the runbook: `docs/runbook.md#<kind>`. */
export const KINDS = {
  'server-errors': 'Answers with a 5xx',
  'late-events': 'Events told late',
  'missing-sweep': 'Sweeps',
  'overdue-records': 'What is due and was not done',
  'failing-records': 'Overdue records that cannot be handled',
  'waiting-messages': 'Age of the oldest message',
  'dead-letters': 'Dead letters',
  'failing-rules': 'Rules that do not reach their queue',
  'failing-functions': 'Failed invocations',
  'throttled-functions': 'Throttled invocations',
  'throttled-table': 'Throttled reads and writes of the table',
  'unanswered-calls': 'Calls that nobody answers, in percent',
  'refused-staff': 'Refused requests of the staff’s API',
} as const
export type Kind = keyof typeof KINDS

/** One alarm, and one line of a graph. */
export type Watch = {
  /** Names the alarm among the stack's constructs. */
  id: string
  kind: Kind
  severity: Severity
  metric: Metric | MathExpression
  /** The line's name in the graph; a metric that has one itself makes an alarm over an expression. */
  label: string
  /** What it breaches above; below, for what has to happen. */
  limit: number
  below?: true
  /** Periods that breach, of how many that are looked at. */
  breaching: number
  of: number
  /** What is wrong, in a sentence. */
  description: string
}

export type Watched = {
  stageName: string
  api: ApiNames
  functions: PlatformFunction[]
  messaging: Messaging
  table: ITable
}

/** What the functions write into their logs as metrics. */
export const own = (
  stageName: string,
  metricName: string,
  dimensionsMap: Record<string, string>,
  options: MetricOptions,
): Metric => new Metric({ namespace: metricsNamespace(stageName), metricName, dimensionsMap, ...options })
