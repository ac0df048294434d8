import type { AlarmModel } from '../template/model.ts'
import { type Evaluated, evaluateAlarm } from './cloudwatch/alarm.ts'
import { type MetricQuery, type Metrics, readPoints } from './cloudwatch/metrics.ts'
import { AwsError } from './error.ts'

/** Dependencies of the local CloudWatch. */
export interface CloudwatchOptions {
  alarms: AlarmModel[]
  metrics: Metrics
  now?: () => number
}

interface Input {
  AlarmNamePrefix?: string
  AlarmTypes?: string[]
  MaxRecords?: number
  NextToken?: string
  MetricDataQueries?: {
    Id: string
    MetricStat?: {
      Metric: { Namespace: string; MetricName: string; Dimensions?: { Name: string; Value: string }[] }
      Period: number
      Stat: string
    }
  }[]
  StartTime?: number
  EndTime?: number
  ScanBy?: 'TimestampDescending' | 'TimestampAscending'
}

const QUERIES = 500
const METRIC = 'MetricAlarm'
const COMPOSITE = 'CompositeAlarm'

const dimensionsOf = (dimensions: Record<string, string>) =>
  Object.entries(dimensions).map(([Name, Value]) => ({ Name, Value }))

const metricFields = ({ namespace, metricName, dimensions, statistic, period }: AlarmModel) => ({
  Namespace: namespace,
  MetricName: metricName,
  Dimensions: dimensionsOf(dimensions),
  Statistic: statistic,
  Period: period,
})

const expressionFields = ({ id, text, metrics }: NonNullable<AlarmModel['expression']>) => ({
  Metrics: [
    { Id: id, Expression: text, ReturnData: true },
    ...metrics.map(({ id: Id, label, namespace, name, dimensions, statistic, period }) => ({
      Id,
      MetricStat: {
        Metric: { Namespace: namespace, MetricName: name, Dimensions: dimensionsOf(dimensions) },
        Period: period,
        Stat: statistic,
      },
      ...(label !== undefined && { Label: label }),
      ReturnData: false,
    })),
  ],
})

/**
 * Creates a CloudWatch with the template's alarms over the local run's own measurements, in the AWS JSON 1.0 protocol.
 */
export const createCloudwatch = ({ alarms, metrics, now = Date.now }: CloudwatchOptions) => {
  const states = new Map<string, Evaluated & { since: number }>()

  const stateOf = (alarm: AlarmModel): Evaluated & { since: number } => {
    const at = now()
    const found = alarm.all ? together(alarm.all) : evaluateAlarm(alarm, metrics, at)
    const before = states.get(alarm.name)
    const state = { ...found, since: before?.state === found.state ? before.since : at }
    states.set(alarm.name, state)
    return state
  }

  const together = (names: readonly string[]): Evaluated => {
    const on = names.every((name) => {
      const one = alarms.find((alarm) => alarm.name === name)
      if (!one) throw new AwsError('ValidationError', `There is no alarm ${name}.`)
      return stateOf(one).state === 'ALARM'
    })
    return { state: on ? 'ALARM' : 'OK', reason: names.join(' and ') }
  }

  const describeAlarms = (input: Input) => {
    metrics.sample()
    return alarmsOf(input)
  }

  const alarmsOf = ({ AlarmNamePrefix = '', AlarmTypes = [METRIC], MaxRecords = 50, NextToken = '0' }: Input) => {
    if (MaxRecords < 1 || MaxRecords > 100)
      throw new AwsError('InvalidParameterValue', 'MaxRecords must be between 1 and 100.')
    const from = Number(NextToken)
    const fitting = alarms
      .filter(({ name, all }) => name.startsWith(AlarmNamePrefix) && AlarmTypes.includes(all ? COMPOSITE : METRIC))
      .sort((a, b) => (a.name < b.name ? -1 : 1))
    const shown = fitting.slice(from, from + MaxRecords)
    const describe = (alarm: AlarmModel) => {
      const { state, reason, since } = stateOf(alarm)
      return {
        AlarmName: alarm.name,
        AlarmDescription: alarm.description,
        StateValue: state,
        StateReason: reason,
        StateUpdatedTimestamp: since / 1_000,
      }
    }
    const next = from + MaxRecords
    return {
      MetricAlarms: shown
        .filter(({ all }) => !all)
        .map((alarm) => ({
          ...describe(alarm),
          ...(alarm.expression ? expressionFields(alarm.expression) : metricFields(alarm)),
          EvaluationPeriods: alarm.evaluationPeriods,
          DatapointsToAlarm: alarm.datapointsToAlarm,
          Threshold: alarm.threshold,
          ComparisonOperator: alarm.comparison,
        })),
      CompositeAlarms: shown
        .filter(({ all }) => all)
        .map((alarm) => ({
          ...describe(alarm),
          AlarmRule: alarm.all?.map((name) => `ALARM("${name}")`).join(' AND '),
        })),
      ...(next < fitting.length && { NextToken: String(next) }),
    }
  }

  const getMetricData = ({ MetricDataQueries = [], StartTime = 0, EndTime = 0, ScanBy }: Input) => {
    if (MetricDataQueries.length < 1 || MetricDataQueries.length > QUERIES) {
      throw new AwsError('ValidationError', `A request must have 1 to ${QUERIES} queries.`)
    }
    if (StartTime >= EndTime) throw new AwsError('ValidationError', 'StartTime must be less than EndTime.')
    metrics.sample()
    const results = MetricDataQueries.map(({ Id, MetricStat }) => {
      if (!MetricStat) throw new AwsError('ValidationError', 'The local CloudWatch supports only MetricStat.')
      const { Metric, Period, Stat } = MetricStat
      const query: MetricQuery = {
        namespace: Metric.Namespace,
        name: Metric.MetricName,
        dimensions: Object.fromEntries((Metric.Dimensions ?? []).map(({ Name, Value }) => [Name, Value])),
        statistic: Stat,
        period: Period,
      }
      const points = readPoints(metrics, query, StartTime * 1_000, EndTime * 1_000)
      if (ScanBy !== 'TimestampAscending') points.reverse()
      return {
        Id,
        Label: Metric.MetricName,
        Timestamps: points.map(({ at }) => at / 1_000),
        Values: points.map(({ value }) => value),
        StatusCode: 'Complete',
      }
    })
    return { MetricDataResults: results, Messages: [] }
  }

  return {
    handle(operation: string, input: Record<string, unknown>): object {
      if (operation === 'DescribeAlarms') return describeAlarms(input)
      if (operation === 'GetMetricData') return getMetricData(input)
      throw new AwsError('UnsupportedOperation', `The local CloudWatch does not support ${operation}.`)
    },
  }
}
