/** A metric as it is asked for. */
export interface MetricQuery {
  namespace: string
  name: string
  dimensions: Readonly<Record<string, string>>
  statistic: string
  /** Seconds. */
  period: number
}

/** What was measured in one period; `at` is its beginning in epoch ms. */
export interface Point {
  at: number
  value: number
}

/** What is measured. */
export interface Metrics {
  /** Since when. */
  readonly since: number
  /** Writes a value down, as a service that reports it would. */
  put(namespace: string, name: string, dimensions: Readonly<Record<string, string>>, value: number): void
  /** Has a value read when it is asked for: it is what it is now. */
  gauge(namespace: string, name: string, dimensions: Readonly<Record<string, string>>, now: () => number): void
  of(query: MetricQuery): { minutes: ReadonlyMap<number, Minute>; gauge: (() => number) | undefined }
}

interface Minute {
  sum: number
  count: number
  max: number
}

const MINUTE = 60_000
/** Kept; alarms look back at most so far. */
const KEPT = 3 * 60

const nameOf = (namespace: string, name: string, dimensions: Readonly<Record<string, string>>): string =>
  JSON.stringify([namespace, name, Object.entries(dimensions).sort(([a], [b]) => (a < b ? -1 : 1))])

export const createMetrics = (now: () => number = Date.now): Metrics => {
  const series = new Map<string, Map<number, Minute>>()
  const gauges = new Map<string, () => number>()
  return {
    since: now(),
    put(namespace, name, dimensions, value) {
      const key = nameOf(namespace, name, dimensions)
      const minutes = series.get(key) ?? new Map<number, Minute>()
      series.set(key, minutes)
      const at = Math.floor(now() / MINUTE) * MINUTE
      const minute = minutes.get(at) ?? { sum: 0, count: 0, max: Number.NEGATIVE_INFINITY }
      minutes.set(at, { sum: minute.sum + value, count: minute.count + 1, max: Math.max(minute.max, value) })
      const [oldest] = minutes.keys()
      if (minutes.size > KEPT && oldest !== undefined) minutes.delete(oldest)
    },
    gauge(namespace, name, dimensions, read) {
      gauges.set(nameOf(namespace, name, dimensions), read)
    },
    of({ namespace, name, dimensions }) {
      const key = nameOf(namespace, name, dimensions)
      return { minutes: series.get(key) ?? new Map(), gauge: gauges.get(key) }
    },
  }
}

/** The points of a metric in a stretch of time, oldest first; a period in which nothing was measured has none. */
export const read = (metrics: Metrics, query: MetricQuery, from: number, to: number, now: number): Point[] => {
  const { minutes, gauge } = metrics.of(query)
  const period = query.period * 1_000
  if (gauge) return now >= from && now - MINUTE <= to ? [{ at: Math.floor(now / period) * period, value: gauge() }] : []
  const found = new Map<number, Minute>()
  for (const [at, minute] of minutes) {
    if (at + MINUTE <= from || at >= to) continue
    const begin = Math.floor(at / period) * period
    const { sum, count, max } = found.get(begin) ?? { sum: 0, count: 0, max: Number.NEGATIVE_INFINITY }
    found.set(begin, { sum: sum + minute.sum, count: count + minute.count, max: Math.max(max, minute.max) })
  }
  return [...found].sort(([a], [b]) => a - b).map(([at, minute]) => ({ at, value: figureOf(minute, query.statistic) }))
}

const figureOf = ({ sum, count, max }: Minute, statistic: string): number => {
  if (statistic === 'Sum') return sum
  if (statistic === 'Maximum') return max
  if (statistic === 'SampleCount') return count
  return sum / count
}
