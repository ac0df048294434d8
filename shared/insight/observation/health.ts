import { SweepMarkEntity } from '#shared/foundation/overdue/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { iso, MINUTE, SECOND } from '#shared/kernel/clock.ts'
import type { LabelledMetric, MetricSeries, WatchedAlarm, WatchedMetric } from '#shared/kernel/ports/monitoring.ts'
import type { ItemOf } from '#shared/table/entity.ts'
import type { HealthView } from './health-schema.ts'

/** Period covered by the measurements. */
const WINDOW = 15 * MINUTE

/** The sweeper starts every 30 seconds. */
const SWEEP_LATE = 5 * MINUTE

type Reading = Pick<Deps, 'table' | 'clock' | 'monitoring' | 'log'>

type Reason = HealthView['reasons'][number]

type SweepMark = ItemOf<typeof SweepMarkEntity>

/** An alarm with the values of its metrics. */
interface Seen {
  /** The alarm's id without the parts that infrastructure adds: `FanoutAge`. */
  title: string
  alarm: WatchedAlarm
  /** Values of its first metric. */
  values: MetricSeries
  measured: readonly { metric: LabelledMetric; values: MetricSeries }[]
  /** Number of waiting messages, for a queue. */
  waiting: MetricSeries
}

/**
 * `GET /admin/health`: state and current values of the deployment's alarms, and the sweeper's latest run. If the alarms
 * can't be read, it still responds and reports that.
 */
export const readHealth = async (deps: Reading): Promise<HealthView> => {
  const now = deps.clock.now()
  const [seen, swept] = await Promise.all([readAlarms(deps, now), deps.table.get(SweepMarkEntity, { name: 'overdue' })])
  const reasons = [...(seen ? [] : [UNKNOWN]), ...sweepReasons(swept, now), ...(seen ?? []).flatMap(reasonOf)]
  const mostSevereFirst = reasons.sort((a, b) => Number(b.severity === 'failing') - Number(a.severity === 'failing'))
  return {
    status: mostSevereFirst[0]?.severity ?? 'ok',
    reasons: mostSevereFirst,
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
  message: 'The alarms couldn’t be read, so their state is unknown. Check the log of this request.',
  since: null,
}

/** @returns undefined when the alarms can't be read */
const readAlarms = async ({ monitoring, log }: Reading, now: number): Promise<Seen[] | undefined> => {
  try {
    const alarms = await monitoring.alarms()
    const metrics = alarms.flatMap(({ metrics: all }) => all)
    const queues = metrics.filter(isQueueAge)
    const series = await monitoring.series([...metrics, ...queues.map(waitingOf)], now - WINDOW, now)
    const valuesOf = new Map(metrics.map((metric, i) => [metric, series[i] ?? []]))
    const waitingAt = new Map(queues.map((metric, i) => [metric, series[metrics.length + i] ?? []]))
    return alarms.map((alarm) => {
      const measured = alarm.metrics.map((metric) => ({ metric, values: valuesOf.get(metric) ?? [] }))
      return {
        alarm,
        title: titleOf(alarm),
        measured,
        values: measured[0]?.values ?? [],
        waiting: alarm.metrics.flatMap((metric) => waitingAt.get(metric) ?? []),
      }
    })
  } catch (error) {
    log.error('could not read the alarms', { error })
    return undefined
  }
}

const isQueueAge = (metric: WatchedMetric): boolean => metric.name === 'ApproximateAgeOfOldestMessage'

const waitingOf = (metric: WatchedMetric): WatchedMetric => ({
  ...metric,
  name: 'ApproximateNumberOfMessagesVisible',
  statistic: 'Maximum',
})

/**
 * `AlarmsFanoutAge1A2B3C4D-ABCDEFGHIJKL` → `FanoutAge`: the construct's own id, without its parent's and the digests.
 */
const titleOf = ({ id }: WatchedAlarm): string => /^Alarms(\w+?)[0-9A-F]{8}(-[A-Z0-9]+)?$/.exec(id)?.[1] ?? id

/** `FanOutAge` without `Age` → `fan-out`. */
const named = (title: string, ending: string): string =>
  title
    .slice(0, -ending.length)
    .replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, '-')
    .toLowerCase()

/** Severity at the start of an alarm's description (infra/alarms.ts). Windows of the error budget have none: they are parts of others. */
const SEVERITY = /^\[(page|ticket)\] /

const reasonOf = ({ title, alarm: { name, description, state, since } }: Seen): Reason[] => {
  const [, severity] = SEVERITY.exec(description) ?? []
  if (state !== 'ALARM' || severity === undefined) return []
  return [
    {
      alarm: name,
      severity: severity === 'page' ? 'failing' : 'degraded',
      message: `${title}: ${description}`,
      since: since === undefined ? null : iso(since),
    },
  ]
}

const sweepReasons = (swept: SweepMark | undefined, now: number): Reason[] => {
  if (!swept) return []
  if (now - swept.at > SWEEP_LATE) {
    const message = 'The sweeper hasn’t checked for overdue work for more than 5 minutes.'
    return [{ alarm: null, severity: 'failing', message, since: iso(swept.at + SWEEP_LATE) }]
  }
  if (swept.failed === 0) return []
  const message = `${swept.failed} overdue records couldn’t be handled. Check the log of the sweeper.`
  return [{ alarm: null, severity: 'degraded', message, since: iso(swept.at) }]
}

const newest = (values: MetricSeries): number | null => values[0] ?? null

const sum = (values: MetricSeries): number | null =>
  values.length === 0 ? null : values.reduce((all, value) => all + value, 0)

const partsOf = (seen: readonly Seen[]) => {
  const ending = (text: string) => seen.filter(({ title }) => title.endsWith(text))
  const valuesOf = (test: (item: Seen) => boolean) => seen.find(test)?.values ?? []
  const byName = (a: { name: string }, b: { name: string }) => a.name.localeCompare(b.name)
  const measured = seen.flatMap((item) => item.measured)
  const ofAll = (namespace: string, name: string) =>
    measured.filter(({ metric }) => metric.namespace === namespace && metric.name === name)
  const throttles = new Map(ofAll('AWS/Lambda', 'Throttles').map(({ metric, values }) => [metric.label, values]))
  return {
    queues: seen
      .filter(({ alarm }) => alarm.metrics.some(isQueueAge))
      .map(({ title, values, waiting }) => ({
        name: named(title, 'Age'),
        waiting: newest(waiting),
        oldest_age_seconds: newest(values),
      }))
      .sort(byName),
    dead_letters: ending('Depth')
      .map(({ title, values }) => ({ name: named(title, 'Depth'), messages: newest(values) }))
      .sort(byName),
    // The audit reads the same stream. Events wait for the relay only.
    stream: { lag_ms: newest(valuesOf(({ title }) => title === 'RelayIteratorAge')) },
    table: {
      read_throttles: sum(ofAll('AWS/DynamoDB', 'ReadThrottleEvents').flatMap(({ values }) => values)),
      write_throttles: sum(ofAll('AWS/DynamoDB', 'WriteThrottleEvents').flatMap(({ values }) => values)),
    },
    functions: ofAll('AWS/Lambda', 'Errors')
      .map(({ metric: { label }, values }) => ({
        name: label,
        errors: sum(values),
        throttles: sum(throttles.get(label) ?? []),
      }))
      .sort(byName),
    api: { server_errors: sum(valuesOf(({ title }) => title === 'ServerErrors')) },
  }
}
