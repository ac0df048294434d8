import type { Deps } from '#shared/foundation/work/work.ts'
import { listActiveOfApp } from '#shared/insight/observed-runs/active-runs.ts'
import { STATS_SHARDS } from '#shared/insight/statistics/entity.ts'
import { loadShard } from '#shared/insight/statistics/totals.ts'

/** Returns the runs that the figures of an app have, from customers' workspaces. */
export const appFigures = async (deps: Pick<Deps, 'table' | 'clock'>, app_id: string) => {
  const [active, ...shards] = await Promise.all([
    listActiveOfApp(deps, app_id),
    ...Array.from({ length: STATS_SHARDS }, (_, shard) => loadShard(deps, { app_id, block: 'live', shard })),
  ])
  const sum = (of: 'runs' | 'succeeded' | 'failed' | 'cancelled') =>
    shards.reduce((all, { total }) => all + (total[of] ?? 0), 0)
  return {
    runs: sum('runs') + active.length,
    succeeded: sum('succeeded'),
    failed: sum('failed'),
    cancelled: sum('cancelled'),
  }
}
