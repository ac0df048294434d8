import type { AlarmModel } from '../../template/model.ts'
import { AwsError } from '../error.ts'
import { latestValues, type Metrics } from './metrics.ts'

export interface Evaluated {
  state: 'OK' | 'ALARM' | 'INSUFFICIENT_DATA'
  reason: string
}

/**
 * Evaluates an alarm: counts the latest periods that breach the threshold. Periods without measurements count as the
 * alarm declares.
 */
export const evaluateAlarm = (alarm: AlarmModel, metrics: Metrics, now: number): Evaluated => {
  const { period, evaluationPeriods, datapointsToAlarm, threshold } = alarm
  const values = valuesOf(alarm, metrics, now)
  const below = alarm.comparison === 'LessThanThreshold'
  const breaching = values.filter((value) =>
    value === undefined ? alarm.missing === 'breaching' : below ? value < threshold : value > threshold,
  )
  if (breaching.length < datapointsToAlarm) return { state: 'OK', reason: 'Threshold not crossed.' }
  // Right after the start, an expected measurement may not have happened yet.
  if (breaching.includes(undefined) && now - metrics.since < period * 1_000 * (evaluationPeriods + 1)) {
    return { state: 'INSUFFICIENT_DATA', reason: 'The local run has just started.' }
  }
  const shown = values.filter((value) => value !== undefined).join(', ') || 'nothing'
  return { state: 'ALARM', reason: `Threshold Crossed: ${shown} against ${threshold}.` }
}

const valuesOf = (alarm: AlarmModel, metrics: Metrics, now: number): (number | undefined)[] => {
  const { namespace, metricName: name, dimensions, statistic, period, evaluationPeriods, expression } = alarm
  if (!expression)
    return latestValues(metrics, { namespace, name, dimensions, statistic, period }, evaluationPeriods, now)
  const known = new Map(
    expression.metrics.map(({ id, ...query }) => [id, latestValues(metrics, query, evaluationPeriods, now)]),
  )
  return Array.from({ length: evaluationPeriods }, (_, i) => share(expression.text, (id) => known.get(id)?.[i]))
}

const SHARE = /^IF\((\w+) >= (\d+), 100 \* (\w+) \/ (\w+), 0\)$/

/** Evaluates the one kind of expression that the platform's alarms use: a percentage, once there are enough values. */
const share = (text: string, value: (id: string) => number | undefined): number | undefined => {
  const [, all = '', least, part = '', whole = ''] = SHARE.exec(text) ?? []
  if (least === undefined) throw new AwsError('ValidationError', `The local CloudWatch does not support ${text}.`)
  const count = value(all)
  if (count === undefined) return undefined
  return count >= Number(least) ? (100 * (value(part) ?? 0)) / (value(whole) ?? count) : 0
}
