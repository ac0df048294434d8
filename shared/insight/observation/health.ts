import { SweepMarkEntity } from '#shared/foundation/overdue/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { iso, MINUTE, SECOND } from '#shared/kernel/clock.ts'
import type { LabelledMetric, MetricSeries, WatchedAlarm, WatchedMetric } from '#shared/kernel/ports/monitoring.ts'
import type { ItemOf } from '#shared/table/entity.ts'
import { AlarmReadingEntity } from './entity.ts'
import type { HealthView } from './health-schema.ts'

/** Period covered by the measurements. */
const WINDOW = 15 * MINUTE

/** The sweeper starts every 30 seconds. */
const SWEEP_LATE = 5 * MINUTE

type Reading = Pick<Work, 'table' | 'clock' | 'monitoring' | 'log' | 'commit'>

type Reason = HealthView['reasons'][number]

type AlarmReading = ItemOf<typeof AlarmReadingEntity>

type SweepMark = ItemOf<typeof SweepMarkEntity>

/**
 * Time for which all readers get the same reading of the alarms. CloudWatch charges for each value that it returns, and most metrics
 * have one value a minute.
 */
const FRESH = MINUTE

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
  const [reading, swept] = await Promise.all([
    freshReading(deps, now),
    deps.table.get(SweepMarkEntity, { name: 'overdue' }),
  ])
  const reasons = [...(reading ? [] : [UNKNOWN]), ...sweepReasons(swept, now), ...(reading?.reasons ?? [])]
  const mostSevereFirst = reasons.sort((a, b) => Number(b.severity === 'failing') - Number(a.severity === 'failing'))
  return {
    status: mostSevereFirst[0]?.severity ?? 'ok',
    reasons: mostSevereFirst,
    ...shownOf(reading ?? partsOf([])),
    last_sweep: swept
      ? {
          at: iso(swept.at),
          age_seconds: Math.max(0, Math.round((now - swept.at) / SECOND)),
          found: swept.found,
          failed: swept.failed,
          oldest_ms: swept.oldest_ms,
        }
      : null,
    as_of: iso(reading?.at ?? now),
  }
}

const shownOf = ({ queues, dead_letters, stream, table, functions, api }: ReturnType<typeof partsOf>) => ({
  queues,
  dead_letters,
  stream,
  table,
  functions,
  api,
})

/** Returns the latest reading, or a new one once it is old. @returns undefined when the alarms can't be read */
const freshReading = async (deps: Reading, now: number): Promise<AlarmReading | undefined> => {
  const key = { name: 'alarms' }
  const kept = await deps.table.get(AlarmReadingEntity, key)
  if (kept && now - kept.at < FRESH) return kept
  const seen = await readAlarms(deps, now)
  if (!seen) return undefined
  const reading = { ...key, at: now, reasons: seen.flatMap(reasonOf), ...partsOf(seen) }
  await deps.commit([AlarmReadingEntity.replace(reading)])
  return reading
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
    const metrics = alarms.flatMap((alarm) => (isShown(titleOf(alarm)) ? alarm.metrics : []))
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

/** Returns true for alarms, by their constructs, whose values are part of the view. Of the others, only the state is. */
export const isShown = (title: string): boolean =>
  /(Age|Depth|^Table\w+Throttles|^FunctionErrors|^FunctionThrottles|^ServerErrors)$/.test(title)

/** Metric of a queue. It is read together with the number of waiting messages. */
export const QUEUE_AGE = 'ApproximateAgeOfOldestMessage'

const isQueueAge = (metric: WatchedMetric): boolean => metric.name === QUEUE_AGE

const waitingOf = (metric: WatchedMetric): WatchedMetric => ({
  ...metric,
  name: 'ApproximateNumberOfMessagesVisible',
  statistic: 'Maximum',
})

/**
 * `AlarmsFanoutAge1A2B3C4D-ABCDEFGHIJKL` → `FanoutAge`: the construct's own id, without its parent's and the digests.
 */
export const titleOf = ({ id }: Pick<WatchedAlarm, 'id'>): string =>
  /^Alarms(\w+?)[0-9A-F]{8}(-[A-Z0-9]+)?$/.exec(id)?.[1] ?? id

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
  const valuesOf = (of: string) => seen.find(({ title }) => title === of)?.values ?? []
  const byName = (a: { name: string }, b: { name: string }) => a.name.localeCompare(b.name)
  const measured = seen.flatMap((item) => item.measured)
  const ofAll = (namespace: string, name: string) =>
    measured.filter(({ metric }) => metric.namespace === namespace && metric.name === name)
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
    stream: { lag_ms: newest(valuesOf('RelayIteratorAge')) },
    table: {
      read_throttles: sum(ofAll('AWS/DynamoDB', 'ReadThrottleEvents').flatMap(({ values }) => values)),
      write_throttles: sum(ofAll('AWS/DynamoDB', 'WriteThrottleEvents').flatMap(({ values }) => values)),
    },
    functions: { errors: sum(valuesOf('FunctionErrors')), throttles: sum(valuesOf('FunctionThrottles')) },
    api: { server_errors: sum(valuesOf('ServerErrors')) },
  }
}
