import { loadOwnApp } from '#shared/catalogue/apps/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { DAY, utcDate } from '#shared/kernel/clock.ts'
import { listActiveOfApp, readWithActive } from '../observed-runs/active-runs.ts'
import type { ActiveRun } from '../observed-runs/entity.ts'
import {
  type AppDay,
  type AppTotal,
  AppTotalEntity,
  DURATION_BOUNDS,
  durationField,
  type RunCounter,
  STATS_SHARDS,
  type StatsBlock,
  versionCounters,
  versionField,
} from './entity.ts'
import type { AppStatsView } from './schemas.ts'
import { loadShard } from './totals.ts'

const SHARDS = Array.from({ length: STATS_SHARDS }, (_, shard) => shard)

/**
 * `GET /api/v1/dev/apps/{id}/stats`: reads counters, and adds active runs, up to 1,000 of each shard. The cost doesn't depend on
 * the number of other runs. The figures lag behind events by a few seconds.
 * @throws `not_found` for another developer's app
 */
export const readStats = async (
  deps: Pick<Deps, 'table' | 'clock'>,
  developerId: string,
  appId: string,
  days: number,
): Promise<AppStatsView> => {
  const { id: app_id } = await loadOwnApp(deps, developerId, appId)
  const today = deps.clock.now()
  const dates = Array.from({ length: days }, (_, i) => utcDate(today - (days - 1 - i) * DAY))
  const [[live, sandbox], active] = await readWithActive(
    () => listActiveOfApp(deps, app_id),
    () => Promise.all([loadBlock(deps, app_id, 'live', dates[0]), loadBlock(deps, app_id, 'sandbox')]),
  )
  const begun = (block: StatsBlock) => active.filter(({ is_sandbox }) => is_sandbox === (block === 'sandbox'))
  const started = begun('live')
    .map(dayOf)
    .filter(({ day }) => dates.includes(day))
  const found = [...live.days.filter(({ day }) => dates.includes(day)), ...started]
  return {
    app_id,
    ...blockOf([...live.totals, ...begun('live').map(dayOf)]),
    sandbox: blockOf([...sandbox.totals, ...begun('sandbox').map(dayOf)]),
    daily: dates.map((date) => {
      const of = found.filter(({ day }) => day === date)
      return {
        date,
        installed: sum(of, 'installed'),
        removed: sum(of, 'removed'),
        runs: sum(of, 'runs'),
        succeeded: sum(of, 'succeeded'),
        failed: sum(of, 'failed'),
        cancelled: sum(of, 'cancelled'),
        duration_ms: percentilesOf(of),
      }
    }),
    versions: versionsOf(found),
  }
}

/** Returns what an active run adds to its day. */
const dayOf = ({ app_id, version, is_sandbox, created_at }: ActiveRun): AppDay => {
  const field = versionField(version, 'runs')
  return {
    app_id,
    shard: 0,
    block: is_sandbox ? 'sandbox' : 'live',
    day: utcDate(created_at),
    runs: 1,
    ...(field !== undefined && { [field]: 1 }),
  }
}

const versionsOf = (days: AppDay[]): AppStatsView['versions'] => {
  const found = new Map<string, Counters[]>()
  for (const day of days) {
    for (const [version, counters] of versionCounters(day)) {
      found.set(version, [...(found.get(version) ?? []), counters])
    }
  }
  return [...found]
    .sort(([a], [b]) => b.localeCompare(a, 'en', { numeric: true }))
    .map(([version, of]) => {
      const [succeeded, failed] = [sum(of, 'succeeded'), sum(of, 'failed')]
      return {
        version,
        installed: sum(of, 'installed'),
        runs: sum(of, 'runs'),
        succeeded,
        failed,
        cancelled: sum(of, 'cancelled'),
        success_rate: rateOf(succeeded, failed),
        duration_ms: percentilesOf(of),
      }
    })
}

/** Returns the number of an app's current installations by customers, without sandboxes. */
export const countInstallations = async ({ table }: Pick<Deps, 'table'>, app_id: string): Promise<number> => {
  const shards = (await table.getAll(SHARDS.map((shard) => AppTotalEntity.ref({ app_id, shard, block: 'live' })))) as (
    | AppTotal
    | undefined
  )[]
  return blockOf(shards).installations
}

/** Loads an app's shards of a block, with the days from `from` on. */
const loadBlock = async (
  deps: Pick<Deps, 'table' | 'clock'>,
  app_id: string,
  block: StatsBlock,
  from?: string,
): Promise<{ totals: Partial<AppTotal>[]; days: AppDay[] }> => {
  const shards = await Promise.all(SHARDS.map((shard) => loadShard(deps, { app_id, block, shard }, from)))
  return { totals: shards.map(({ total }) => total), days: shards.flatMap(({ days }) => days) }
}

type Counters = Partial<AppTotal> | Partial<AppDay> | undefined

type CounterName = RunCounter | 'installed' | 'removed'

const sum = (shards: Counters[], name: CounterName): number =>
  shards.reduce((all, shard) => all + (shard?.[name] ?? 0), 0)

const blockOf = (shards: Counters[]) => {
  const [succeeded, failed] = [sum(shards, 'succeeded'), sum(shards, 'failed')]
  const ended = succeeded + failed
  const percentiles = percentilesOf(shards)
  return {
    installations: sum(shards, 'installed') - sum(shards, 'removed'),
    runs: sum(shards, 'runs'),
    succeeded,
    failed,
    cancelled: sum(shards, 'cancelled'),
    success_rate: rateOf(succeeded, failed),
    duration_ms: percentiles && { average: Math.round(sum(shards, 'duration_ms') / ended), ...percentiles },
  }
}

const rateOf = (succeeded: number, failed: number): number | null =>
  succeeded + failed === 0 ? null : Math.round((10_000 * succeeded) / (succeeded + failed)) / 10_000

const percentilesOf = (shards: Counters[]): { p50: number | null; p95: number | null } | null => {
  const ended = sum(shards, 'succeeded') + sum(shards, 'failed')
  return ended === 0 ? null : { p50: percentile(shards, 0.5 * ended), p95: percentile(shards, 0.95 * ended) }
}

/** Returns the upper bound of the bucket that holds the wanted rank. */
const percentile = (shards: Counters[], wanted: number): number | null => {
  let seen = 0
  for (const [i, bound] of DURATION_BOUNDS.entries()) {
    seen += sum(shards, durationField(i))
    if (seen >= wanted) return bound
  }
  return null
}
