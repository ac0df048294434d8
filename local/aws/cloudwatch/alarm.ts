import type { AlarmModel } from '../../template/model.ts'
import { AwsError } from '../error.ts'
import { latest, type Metrics } from './metrics.ts'

export interface Evaluated {
  state: 'OK' | 'ALARM' | 'INSUFFICIENT_DATA'
  reason: string
}

/** An alarm's state: how many of its latest periods breach the threshold. A period in which nothing was measured counts as the alarm says. */
export const breaches = (alarm: AlarmModel, metrics: Metrics, now: number): Evaluated => {
  const { period, evaluationPeriods, datapointsToAlarm, threshold } = alarm
  const values = valuesOf(alarm, metrics, now)
  const below = alarm.comparison === 'LessThanThreshold'
  const breaching = values.filter((value) =>
    value === undefined ? alarm.missing === 'breaching' : below ? value < threshold : value > threshold,
  )
  if (breaching.length < datapointsToAlarm) return { state: 'OK', reason: 'Threshold not crossed.' }
  // What began just now has not had the time to do what it is missed for.
  if (breaching.includes(undefined) && now - metrics.since < period * 1_000 * (evaluationPeriods + 1)) {
    return { state: 'INSUFFICIENT_DATA', reason: 'The local run has just begun.' }
  }
  const shown = values.filter((value) => value !== undefined).join(', ') || 'nothing'
  return { state: 'ALARM', reason: `Threshold Crossed: ${shown} against ${threshold}.` }
}

const valuesOf = (alarm: AlarmModel, metrics: Metrics, now: number): (number | undefined)[] => {
  const { namespace, metricName: name, dimensions, statistic, period, evaluationPeriods, expression } = alarm
  if (!expression) return latest(metrics, { namespace, name, dimensions, statistic, period }, evaluationPeriods, now)
  const known = new Map(
    expression.metrics.map(({ id, ...query }) => [id, latest(metrics, query, evaluationPeriods, now)]),
  )
  return Array.from({ length: evaluationPeriods }, (_, i) => share(expression.text, (id) => known.get(id)?.[i]))
}

const SHARE = /^IF\((\w+) >= (\d+), 100 \* (\w+) \/ (\w+), 0\)$/

/** The one expression that alarms of the platform use: how many of a hundred, where there are enough of them. */
const share = (text: string, value: (id: string) => number | undefined): number | undefined => {
  const [, all = '', least, part = '', whole = ''] = SHARE.exec(text) ?? []
  if (least === undefined) throw new AwsError('ValidationError', `The local CloudWatch does not know ${text}.`)
  const count = value(all)
  if (count === undefined) return undefined
  return count >= Number(least) ? (100 * (value(part) ?? 0)) / (value(whole) ?? count) : 0
}
