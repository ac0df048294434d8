import type { Resolved } from './api.ts'
import { list, number, object, type Props, text } from './fields.ts'
import type { AlarmMetric, AlarmModel } from './model.ts'

const metricOf = (metric: Props, statistic: unknown, period: unknown): AlarmMetric => ({
  namespace: text(metric.Namespace) ?? '',
  name: text(metric.MetricName) ?? '',
  dimensions: Object.fromEntries(
    list(metric.Dimensions).map((one) => [String(object(one).Name), String(object(one).Value)]),
  ),
  statistic: text(statistic) ?? 'Average',
  period: number(period) ?? 60,
})

const expressionOf = (metrics: Props[]): AlarmModel['expression'] => {
  const [returned] = metrics.filter(({ Expression }) => Expression !== undefined)
  if (!returned) return undefined
  return {
    id: String(returned.Id),
    text: String(returned.Expression),
    metrics: metrics.flatMap(({ Id, Label, MetricStat }) => {
      const { Metric, Stat, Period } = object(MetricStat)
      const label = text(Label)
      return Metric === undefined
        ? []
        : [{ id: String(Id), ...metricOf(object(Metric), Stat, Period), ...(label !== undefined && { label }) }]
    }),
  }
}

/** Reads alarms, each over one metric, over an expression of several, or over other alarms. */
export const readAlarms = (resources: Resolved[]): AlarmModel[] => [
  ...metricAlarms(resources),
  ...composites(resources),
]

const composites = (resources: Resolved[]): AlarmModel[] =>
  resources
    .filter(({ type }) => type === 'AWS::CloudWatch::CompositeAlarm')
    .map(({ name, properties: p }) => ({
      ...metricAlarm({ name, properties: {} }),
      description: text(p.AlarmDescription) ?? '',
      all: [...(text(p.AlarmRule) ?? '').matchAll(/ALARM\("([^"]+)"\)/g)].map(([, alarm = '']) => alarm),
    }))

const metricAlarms = (resources: Resolved[]): AlarmModel[] =>
  resources.filter(({ type }) => type === 'AWS::CloudWatch::Alarm').map(metricAlarm)

const metricAlarm = ({ name, properties: p }: Pick<Resolved, 'name' | 'properties'>): AlarmModel => {
  const expression = expressionOf(list(p.Metrics).map(object))
  const metric = expression?.metrics[0] ?? metricOf(p, p.Statistic ?? p.ExtendedStatistic, p.Period)
  const evaluationPeriods = number(p.EvaluationPeriods) ?? 1
  return {
    name,
    description: text(p.AlarmDescription) ?? '',
    namespace: metric.namespace,
    metricName: metric.name,
    dimensions: metric.dimensions,
    statistic: metric.statistic,
    period: metric.period,
    evaluationPeriods,
    datapointsToAlarm: number(p.DatapointsToAlarm) ?? evaluationPeriods,
    threshold: number(p.Threshold) ?? 0,
    comparison: text(p.ComparisonOperator) ?? '',
    missing: text(p.TreatMissingData) ?? 'missing',
    ...(expression && { expression }),
  }
}
