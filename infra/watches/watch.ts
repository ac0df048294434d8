import { type MathExpression, Metric, type MetricOptions } from 'aws-cdk-lib/aws-cloudwatch'
import type { ITable } from 'aws-cdk-lib/aws-dynamodb'
import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import { metricsNamespace } from '#shared/kernel/metrics.ts'
import type { ApiNames } from '../api-metrics.ts'
import type { PlatformFunction } from '../functions.ts'
import type { Messaging } from '../messaging.ts'

/** `page`: customers notice now, and it doesn't fix itself. `ticket`: look at it within the day. */
export type Severity = 'page' | 'ticket'

/** Titles of the kinds of alarms. Each kind has a section in the runbook: `docs/runbook.md#<kind>`. */
export const KINDS = {
  'server-errors': 'Responses with a 5xx',
  'error-budget': 'Requests that fail, in percent',
  'slow-requests': 'Slowest requests, p99 in ms',
  'failed-journey': 'Failed journeys',
  'late-events': 'Delay of the relay',
  'missing-sweep': 'Sweeps',
  'overdue-records': 'Overdue work',
  'failing-records': 'Overdue records that failed',
  'waiting-messages': 'Age of the oldest message',
  'dead-letters': 'Dead letters',
  'failing-rules': 'Rules that don’t reach their queue',
  'failing-functions': 'Failed invocations',
  'throttled-functions': 'Throttled invocations',
  'long-invocations': 'Invocations that took almost as long as they may',
  'account-concurrency': 'Executions of the account in use, in percent',
  'throttled-table': 'Throttled reads and writes of the tables and their indexes',
  'unanswered-calls': 'Calls without an answer, in percent',
  'refused-staff': 'Refused requests to the admin API',
} as const
export type Kind = keyof typeof KINDS

/** Alarm and the line that shows it in a graph. */
export type Watch = {
  /** Construct id of the alarm. */
  id: string
  kind: Kind
  severity: Severity
  metric: Metric | MathExpression
  /** Name of the line in the graph. Not part of the metric: a metric with a label makes the alarm use an expression. */
  label: string
  /** Labelled metrics behind an expression, if the graph shows them instead of its value. */
  lines?: readonly Metric[]
  /** Breaching above this value, or below it with `below`. */
  limit: number
  below?: true
  /** Missing values breach as well: the metric is of something that has to happen. Always so with `below`. */
  expected?: true
  /** Number of breaching periods, of the last `of` periods. */
  breaching: number
  of: number
  /** Problem in one sentence. */
  description: string
}

export type Watched = {
  stageName: string
  api: ApiNames
  functions: PlatformFunction[]
  messaging: Messaging
  /** The table, and the table of the audit. */
  tables: readonly WatchedTable[]
  /** The stage has a language model. */
  model: boolean
  /** Function of the journey that is run on a schedule, if the stage has one. */
  journey: IFunction | undefined
}

export type WatchedTable = { table: ITable; label: string; indexes: readonly string[] }

/** Largest number of metrics in one alarm's expression. */
const METRICS_IN_ONE = 10

/** Splits a list into parts that one alarm can watch. */
export const inParts = <T>(all: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(all.length / METRICS_IN_ONE) }, (_, i) =>
    all.slice(i * METRICS_IN_ONE, (i + 1) * METRICS_IN_ONE),
  )

/** Returns a metric that the functions write into their logs. */
export const platformMetric = (
  stageName: string,
  metricName: string,
  dimensionsMap: Record<string, string>,
  options: MetricOptions,
): Metric => new Metric({ namespace: metricsNamespace(stageName), metricName, dimensionsMap, ...options })
