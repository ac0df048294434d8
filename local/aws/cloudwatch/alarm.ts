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
  return Array.from({ length: evaluationPeriods }, (_, i) => resultOf(expression.text, (id) => known.get(id)?.[i]))
}

const OF_LIST = /^(SUM|MAX)\(\[(.+)\]\)$/
const OF_ONE = /^(?:(\d+) \* )?(\w+)(?: \/ (\d+))?$/

/** Evaluates the expressions that the platform's alarms use. */
const resultOf = (text: string, value: (id: string) => number | undefined): number | undefined => {
  // The local run has no quota of executions.
  if (text.includes('SERVICE_QUOTA(')) return undefined
  const [, name, terms] = OF_LIST.exec(text) ?? []
  if (terms === undefined) return share(text, value)
  const known = terms.split(', ').flatMap((term) => {
    const [, factor = 1, id = '', divisor = 1] = OF_ONE.exec(term) ?? []
    const found = value(id)
    return found === undefined ? [] : [(Number(factor) * found) / Number(divisor)]
  })
  if (known.length === 0) return undefined
  return name === 'SUM' ? known.reduce((sum, one) => sum + one, 0) : Math.max(...known)
}

const SHARE = /^IF\((\w+) >= (\d+), 100 \* (\w+) \/ (\w+), 0\)$/

/** Evaluates a percentage, once there are enough values. */
const share = (text: string, value: (id: string) => number | undefined): number | undefined => {
  const [, all = '', least, part = '', whole = ''] = SHARE.exec(text) ?? []
  if (least === undefined) throw new AwsError('ValidationError', `The local CloudWatch does not support ${text}.`)
  const count = value(all)
  if (count === undefined) return undefined
  return count >= Number(least) ? (100 * (value(part) ?? 0)) / (value(whole) ?? count) : 0
}
