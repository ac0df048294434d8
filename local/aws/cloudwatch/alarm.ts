import type { AlarmModel } from '../../template/model.ts'
import { type Metrics, read } from './metrics.ts'

export interface Evaluated {
  state: 'OK' | 'ALARM' | 'INSUFFICIENT_DATA'
  reason: string
}

/** An alarm's state: whether each of its latest periods breaches the threshold. A period in which nothing was measured counts as the alarm says. */
export const breaches = (alarm: AlarmModel, metrics: Metrics, now: number): Evaluated => {
  const { namespace, metricName: name, dimensions, statistic, period, evaluationPeriods, threshold } = alarm
  const ms = period * 1_000
  const span = ms * evaluationPeriods
  const points = read(metrics, { namespace, name, dimensions, statistic, period }, now - span, now, now)
  const below = alarm.comparison === 'LessThanThreshold'
  const breaching = points.filter(({ value }) => (below ? value < threshold : value > threshold))
  const missing = Math.max(0, evaluationPeriods - points.length)
  const counted = breaching.length + (alarm.missing === 'breaching' ? missing : 0)
  if (counted >= evaluationPeriods) {
    // What began just now has not had the time to do what it is missed for.
    if (missing > 0 && now - metrics.since < span + ms) {
      return { state: 'INSUFFICIENT_DATA', reason: 'The local run has just begun.' }
    }
    const values = points.map(({ value }) => value).join(', ') || 'nothing'
    return { state: 'ALARM', reason: `Threshold Crossed: ${values} against ${threshold}.` }
  }
  return { state: 'OK', reason: 'Threshold not crossed.' }
}
