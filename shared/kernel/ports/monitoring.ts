/** Metric of a deployment, as its alarms identify it. */
export interface WatchedMetric {
  namespace: string
  name: string
  dimensions: Readonly<Record<string, string>>
  statistic: string
  /** Seconds. */
  period: number
}

/** Alarm of this deployment. */
export interface WatchedAlarm {
  /** Full name, as shown in CloudWatch. */
  name: string
  /** Name without the prefix that all alarms of this deployment share. */
  id: string
  description: string
  state: 'OK' | 'ALARM' | 'INSUFFICIENT_DATA'
  /** Time of the last state change, in epoch ms. */
  since: number | undefined
  /** Its metric, or the metrics of its expression. Empty for an alarm over other alarms. */
  metrics: readonly LabelledMetric[]
}

/** Metric with its label in the alarm's expression: the name of a function or a table. Empty outside expressions. */
export type LabelledMetric = WatchedMetric & { label: string }

/** Values, newest first. Empty if nothing was measured. */
export type MetricSeries = readonly number[]

/** Metrics and alarms of the deployment. */
export interface Monitoring {
  /** Lists this deployment's alarms. @throws if CloudWatch can't be reached */
  alarms(): Promise<WatchedAlarm[]>
  /** Returns the values between two times in epoch ms, in the order of the metrics. */
  series(metrics: readonly WatchedMetric[], since: number, until: number): Promise<MetricSeries[]>
}
