import type { Deps } from '#shared/foundation/work/index.ts'
import { calendarOf, datesUpTo } from '../analytics/days.ts'
import { loadSumsByDate } from './hours.ts'
import type { MetricsView } from './metrics-schema.ts'

/**
 * `GET /admin/metrics`: reads counters, and adds active runs. Runs and installations lag behind their events by a few seconds; the other
 * figures are current.
 */
export const readMetrics = async (
  deps: Pick<Deps, 'table' | 'clock'>,
  { days, tz }: { days: number; tz: string },
): Promise<MetricsView> => {
  const calendar = calendarOf(tz)
  const dates = datesUpTo(calendar.dateOf(deps.clock.now()), days)
  const { byDate } = await loadSumsByDate(deps, calendar, dates)
  return {
    time_zone: tz,
    from: dates[0] ?? '',
    to: dates.at(-1) ?? '',
    daily: [...byDate].map(([date, sums]) => ({
      date,
      runs: {
        created: sums.runs,
        in_sandboxes: sums.sandbox_runs,
        succeeded: sums.succeeded,
        failed: sums.failed,
        cancelled: sums.cancelled,
      },
      // Rounds a sum of decimals to remove floating-point errors.
      cost_units: Number(sums.cost_units.toFixed(9)),
      new_developers: sums.developers,
      new_apps: sums.apps,
      new_workspaces: sums.workspaces,
      installed: sums.installed,
      uninstalled: sums.uninstalled,
      webhook_deliveries: { succeeded: sums.deliveries_succeeded, failed: sums.deliveries_failed },
    })),
  }
}
