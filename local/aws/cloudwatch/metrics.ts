/** A query for a metric. */
export interface MetricQuery {
  namespace: string
  name: string
  dimensions: Readonly<Record<string, string>>
  statistic: string
  /** In seconds. */
  period: number
}

/** The values measured in one period; `at` is its start in epoch ms. */
export interface Point {
  at: number
  value: number
}

/** The local run's measurements. */
export interface Metrics {
  /** Time at which measuring started. */
  readonly since: number
  /** Records a value, as the reporting service would. */
  put(namespace: string, name: string, dimensions: Readonly<Record<string, string>>, value: number): void
  /** Registers a value to read every minute and on every query. The latest value of a minute counts. */
  gauge(namespace: string, name: string, dimensions: Readonly<Record<string, string>>, now: () => number): void
  /** Reads all gauges. */
  sample(): void
  of(query: MetricQuery): ReadonlyMap<number, Minute>
}

interface Minute {
  sum: number
  count: number
  max: number
}

const NOTHING: Minute = { sum: 0, count: 0, max: Number.NEGATIVE_INFINITY }

const MINUTE = 60_000
/** Minutes of measurements to keep. No alarm looks back further. */
const KEPT = 6 * 60

const nameOf = (namespace: string, name: string, dimensions: Readonly<Record<string, string>>): string =>
  JSON.stringify([namespace, name, Object.entries(dimensions).sort(([a], [b]) => (a < b ? -1 : 1))])

export const createMetrics = (now: () => number = Date.now): Metrics => {
  const series = new Map<string, Map<number, Minute>>()
  const gauges = new Map<string, () => number>()
  const write = (key: string, value: number, before?: Minute) => {
    const minutes = series.get(key) ?? new Map<number, Minute>()
    series.set(key, minutes)
    const at = minuteOf(now())
    const { sum, count, max } = before ?? NOTHING
    minutes.set(at, { sum: sum + value, count: count + 1, max: Math.max(max, value) })
    const [oldest] = minutes.keys()
    if (minutes.size > KEPT && oldest !== undefined) minutes.delete(oldest)
  }
  return {
    since: now(),
    put(namespace, name, dimensions, value) {
      const key = nameOf(namespace, name, dimensions)
      write(key, value, series.get(key)?.get(minuteOf(now())))
    },
    gauge(namespace, name, dimensions, read) {
      gauges.set(nameOf(namespace, name, dimensions), read)
    },
    sample() {
      for (const [key, read] of gauges) write(key, read())
    },
    of: ({ namespace, name, dimensions }) => series.get(nameOf(namespace, name, dimensions)) ?? new Map(),
  }
}

const minuteOf = (at: number): number => Math.floor(at / MINUTE) * MINUTE

/** Returns the points of a metric in a time range, oldest first. A period without measurements has no point. */
export const readPoints = (metrics: Metrics, query: MetricQuery, from: number, to: number): Point[] => {
  const minutes = metrics.of(query)
  const period = query.period * 1_000
  const found = new Map<number, Minute>()
  for (const [at, minute] of minutes) {
    if (at + MINUTE <= from || at >= to) continue
    const begin = Math.floor(at / period) * period
    const { sum, count, max } = found.get(begin) ?? NOTHING
    found.set(begin, { sum: sum + minute.sum, count: count + minute.count, max: Math.max(max, minute.max) })
  }
  return [...found].sort(([a], [b]) => a - b).map(([at, minute]) => ({ at, value: figureOf(minute, query.statistic) }))
}

/**
 * Returns the measurements of the latest periods, newest first. Periods end now, rounded to the minute.
 * @returns undefined for a period without measurements
 */
export const latestValues = (
  metrics: Metrics,
  query: MetricQuery,
  periods: number,
  now: number,
): (number | undefined)[] => {
  const minutes = metrics.of(query)
  const newest = minuteOf(now)
  return Array.from({ length: periods }, (_, back) => {
    let all = NOTHING
    for (let i = 0; i < query.period * 1_000; i += MINUTE) {
      const { sum, count, max } = minutes.get(newest - back * query.period * 1_000 - i) ?? NOTHING
      all = { sum: all.sum + sum, count: all.count + count, max: Math.max(all.max, max) }
    }
    return all.count === 0 ? undefined : figureOf(all, query.statistic)
  })
}

const figureOf = ({ sum, count, max }: Minute, statistic: string): number => {
  if (statistic === 'Sum') return sum
  if (statistic === 'Maximum') return max
  if (statistic === 'SampleCount') return count
  return sum / count
}
