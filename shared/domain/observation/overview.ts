import { abuseReportsBy } from '../../entities/abuse.ts'
import { APP_STATUSES } from '../../entities/apps.ts'
import { installationsBy } from '../../entities/installations.ts'
import { verificationsBy } from '../../entities/moderation.ts'
import { PlatformNowEntity } from '../../entities/platform-statistics.ts'
import { reviewQueue } from '../../entities/review-queue.ts'
import { iso } from '../../kernel/clock.ts'
import { calendarOf, datesUpTo } from '../analytics/days.ts'
import type { Deps } from '../deps.ts'
import { standingLists } from '../moderation/standing.ts'
import { DEVELOPER_STATUSES, developersBy, WORKSPACE_STATUSES, workspacesBy } from '../roster/places.ts'
import { totalOf } from '../totals.ts'
import { type DaySums, sumsByDate } from './hours.ts'
import type { OverviewView } from './overview-schema.ts'

const DAYS = 7

/**
 * `GET /admin/overview`. Records are counted by totals that move with them, so they are exact at the moment they are read; runs
 * and deliveries by the platform’s counters.
 */
export const readOverview = async (deps: Pick<Deps, 'table' | 'clock'>): Promise<OverviewView> => {
  const calendar = calendarOf('UTC')
  const now = deps.clock.now()
  const [developers, apps, customer, sandbox, installations, active, byDate, waiting] = await Promise.all([
    developerTotals(deps),
    each(APP_STATUSES, (status) => totalOf(deps, standingLists(status, undefined))),
    each(WORKSPACE_STATUSES, (status) => totalOf(deps, [workspacesBy(status, false)])),
    each(WORKSPACE_STATUSES, (status) => totalOf(deps, [workspacesBy(status, true)])),
    each(['active', 'suspended'] as const, (status) => totalOf(deps, [installationsBy(status)])),
    activeRuns(deps),
    sumsByDate(deps, calendar, datesUpTo(calendar.dateOf(now), DAYS)),
    each(Object.keys(WAITING) as (keyof typeof WAITING)[], (what) => totalOf(deps, [WAITING[what]])),
  ])
  const week = [...byDate.values()]
  const today = week.slice(-1)
  return {
    developers,
    apps: { total: sum(Object.values(apps)), by_status: apps },
    workspaces: { customer, sandbox },
    installations,
    runs: { active, today: runsOf(today), last_7_days: runsOf(week) },
    webhook_deliveries: { today: deliveriesOf(today), last_7_days: deliveriesOf(week) },
    waiting,
    as_of: iso(now),
  }
}

const WAITING = {
  apps_in_review: reviewQueue('app'),
  versions_in_review: reviewQueue('version'),
  abuse_reports: abuseReportsBy('open'),
  verifications: verificationsBy('pending'),
}

/** A count moves in several shards, so that one read between two of them may see less than nothing. */
const sum = (numbers: readonly number[]): number =>
  Math.max(
    0,
    numbers.reduce((all, n) => all + n, 0),
  )

const each = async <K extends string>(names: readonly K[], read: (name: K) => Promise<number>) =>
  Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, Math.max(0, await read(name))] as const)),
  ) as Record<K, number>

const developerTotals = async (deps: Pick<Deps, 'table'>): Promise<OverviewView['developers']> => {
  const of = (verified: boolean) =>
    each(DEVELOPER_STATUSES, (status) => totalOf(deps, [developersBy(status, verified)]))
  const [verified, unverified] = await Promise.all([of(true), of(false)])
  const active = verified.active + unverified.active
  const blocked = verified.blocked + unverified.blocked
  return { total: active + blocked, active, blocked, verified: verified.active + verified.blocked }
}

const activeRuns = async ({ table }: Pick<Deps, 'table'>): Promise<number> => {
  const { items } = await table.query(PlatformNowEntity, {}, { limit: table.shards })
  return sum(items.map(({ active_runs }) => active_runs))
}

const total = (days: readonly DaySums[], counter: keyof DaySums): number => sum(days.map((day) => day[counter]))

const runsOf = (days: readonly DaySums[]) => ({
  created: total(days, 'runs'),
  in_sandboxes: total(days, 'sandbox_runs'),
  succeeded: total(days, 'succeeded'),
  failed: total(days, 'failed'),
  cancelled: total(days, 'cancelled'),
})

const deliveriesOf = (days: readonly DaySums[]) => ({
  succeeded: total(days, 'deliveries_succeeded'),
  failed: total(days, 'deliveries_failed'),
})
