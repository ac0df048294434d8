import { SweepMarkEntity } from '../../entities/events.ts'
import { iso, MINUTE, SECOND } from '../../kernel/clock.ts'
import type { ItemOf } from '../../table/entity.ts'
import type { Deps } from '../deps.ts'
import type { MetricSeries, WatchedAlarm, WatchedMetric } from '../ports.ts'
import type { HealthView } from './health-schema.ts'

/** What is looked back at. */
const WINDOW = 15 * MINUTE

/** A sweep begins every half a minute. */
const SWEEP_LATE = 5 * MINUTE

type Reading = Pick<Deps, 'table' | 'clock' | 'monitoring' | 'log'>
type Reason = HealthView['reasons'][number]
type SweepMark = ItemOf<typeof SweepMarkEntity>

/** An alarm with the values of what it watches. */
interface Seen {
  /** The alarm's id without what infrastructure adds to it: `FanoutAge`. */
  title: string
  alarm: WatchedAlarm
  values: MetricSeries
  /** Of a queue: how many messages wait. */
  waiting: MetricSeries
}

/**
 * `GET /admin/health`: what the deployment’s alarms watch, with the values of now, and when the sweep last looked. It answers, too,
 * when the alarms cannot be asked, and says so.
 */
export const readHealth = async (deps: Reading): Promise<HealthView> => {
  const now = deps.clock.now()
  const [seen, swept] = await Promise.all([look(deps, now), deps.table.get(SweepMarkEntity, { name: 'overdue' })])
  const reasons = [...(seen ? [] : [UNKNOWN]), ...sweepReasons(swept, now), ...(seen ?? []).flatMap(reasonOf)]
  const gravestFirst = reasons.sort((a, b) => Number(b.severity === 'failing') - Number(a.severity === 'failing'))
  return {
    status: gravestFirst[0]?.severity ?? 'ok',
    reasons: gravestFirst,
    ...partsOf(seen ?? []),
    last_sweep: swept
      ? {
          at: iso(swept.at),
          age_seconds: Math.max(0, Math.round((now - swept.at) / SECOND)),
          found: swept.found,
          failed: swept.failed,
          oldest_ms: swept.oldest_ms,
        }
      : null,
    as_of: iso(now),
  }
}

const UNKNOWN: Reason = {
  alarm: null,
  severity: 'degraded',
  message: 'The alarms could not be asked; the request’s log says why. What they watch is not known.',
  since: null,
}

/** @returns undefined when they cannot be asked */
const look = async ({ monitoring, log }: Reading, now: number): Promise<Seen[] | undefined> => {
  try {
    const alarms = await monitoring.alarms()
    const queues = alarms.filter(isQueueAge)
    const metrics = [...alarms.map(({ metric }) => metric), ...queues.map(({ metric }) => waitingOf(metric))]
    const series = await monitoring.series(metrics, now - WINDOW, now)
    return alarms.map((alarm, i) => ({
      alarm,
      title: titleOf(alarm),
      values: series[i] ?? [],
      waiting: series[alarms.length + queues.indexOf(alarm)] ?? [],
    }))
  } catch (error) {
    log.error('the alarms cannot be asked', { error })
    return undefined
  }
}

const isQueueAge = ({ metric }: WatchedAlarm): boolean => metric.name === 'ApproximateAgeOfOldestMessage'

const waitingOf = (metric: WatchedMetric): WatchedMetric => ({
  ...metric,
  name: 'ApproximateNumberOfMessagesVisible',
  statistic: 'Maximum',
})

/** `AlarmsFanoutAge1A2B3C4D-ABCDEFGHIJKL` → `FanoutAge`: the construct's own name, without the parent's and the digests. */
const titleOf = ({ id }: WatchedAlarm): string => /^Alarms(\w+?)[0-9A-F]{8}(-[A-Z0-9]+)?$/.exec(id)?.[1] ?? id

/** `OverdueSweepErrors` without `Errors` → `overdue-sweep`. */
const named = (title: string, ending: string): string =>
  title
    .slice(0, -ending.length)
    .replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, '-')
    .toLowerCase()

/** What somebody is called for: an alarm says so in its description (infra/alarms.ts). */
const GRAVE = /^\[page\] /

const reasonOf = ({ title, alarm: { name, description, state, since } }: Seen): Reason[] =>
  state === 'ALARM'
    ? [
        {
          alarm: name,
          severity: GRAVE.test(description) ? 'failing' : 'degraded',
          message: `${title}: ${description}`,
          since: since === undefined ? null : iso(since),
        },
      ]
    : []

const sweepReasons = (swept: SweepMark | undefined, now: number): Reason[] => {
  if (!swept) return []
  if (now - swept.at > SWEEP_LATE) {
    const message = 'The sweep has not looked for what is overdue for more than 5 minutes.'
    return [{ alarm: null, severity: 'failing', message, since: iso(swept.at + SWEEP_LATE) }]
  }
  if (swept.failed === 0) return []
  const message = `${swept.failed} overdue records could not be handled; the log of overdue-sweep says why.`
  return [{ alarm: null, severity: 'degraded', message, since: iso(swept.at) }]
}

const newest = (values: MetricSeries): number | null => values[0] ?? null
const sum = (values: MetricSeries): number | null =>
  values.length === 0 ? null : values.reduce((all, value) => all + value, 0)

const partsOf = (seen: readonly Seen[]) => {
  const ending = (text: string) => seen.filter(({ title }) => title.endsWith(text))
  const one = (test: (item: Seen) => boolean) => seen.find(test)?.values ?? []
  const byName = (a: { name: string }, b: { name: string }) => a.name.localeCompare(b.name)
  const functions = ending('Errors').filter(({ alarm }) => alarm.metric.namespace === 'AWS/Lambda')
  return {
    queues: seen
      .filter(({ alarm }) => isQueueAge(alarm))
      .map(({ title, values, waiting }) => ({
        name: named(title, 'Age'),
        waiting: newest(waiting),
        oldest_age_seconds: newest(values),
      }))
      .sort(byName),
    dead_letters: ending('Depth')
      .map(({ title, values }) => ({ name: named(title, 'Depth'), messages: newest(values) }))
      .sort(byName),
    stream: { lag_ms: newest(one(({ alarm }) => alarm.metric.name === 'IteratorAge')) },
    table: {
      read_throttles: sum(one(({ alarm }) => alarm.metric.name === 'ReadThrottleEvents')),
      write_throttles: sum(one(({ alarm }) => alarm.metric.name === 'WriteThrottleEvents')),
    },
    functions: functions
      .map(({ title, values, alarm }) => {
        const own = alarm.metric.dimensions.FunctionName
        const throttles = one(
          (other) => other.alarm.metric.name === 'Throttles' && other.alarm.metric.dimensions.FunctionName === own,
        )
        return { name: named(title, 'Errors'), errors: sum(values), throttles: sum(throttles) }
      })
      .sort(byName),
    api: { server_errors: sum(one(({ title }) => title === 'ServerErrors')) },
  }
}
