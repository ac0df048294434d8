import type { Resolved } from './api.ts'
import { list, number, object, text } from './fields.ts'
import type { AlarmModel } from './model.ts'

/** Alarms over one metric each. */
export const readAlarms = (resources: Resolved[]): AlarmModel[] =>
  resources
    .filter(({ type }) => type === 'AWS::CloudWatch::Alarm')
    .map(({ name, properties: p }) => ({
      name,
      description: text(p.AlarmDescription) ?? '',
      namespace: text(p.Namespace) ?? '',
      metricName: text(p.MetricName) ?? '',
      dimensions: Object.fromEntries(
        list(p.Dimensions).map((one) => [String(object(one).Name), String(object(one).Value)]),
      ),
      statistic: text(p.Statistic) ?? 'Average',
      period: number(p.Period) ?? 60,
      evaluationPeriods: number(p.EvaluationPeriods) ?? 1,
      threshold: number(p.Threshold) ?? 0,
      comparison: text(p.ComparisonOperator) ?? '',
      missing: text(p.TreatMissingData) ?? 'missing',
    }))
