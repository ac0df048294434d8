import { installationsBy } from '#shared/access/installations/index.ts'
import { APP_STATUSES, standingLists } from '#shared/catalogue/apps/index.ts'
import { reviewQueue } from '#shared/catalogue/review-queue/index.ts'
import { readTotal } from '#shared/foundation/totals/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { calendarOf, datesUpTo } from '#shared/insight/analytics/index.ts'
import { type DaySums, loadSumsByDate } from '#shared/insight/observation/index.ts'
import { iso } from '#shared/kernel/clock.ts'
import { DEVELOPER_STATUSES, developersBy, WORKSPACE_STATUSES, workspacesBy } from '#shared/staff/roster/index.ts'
import { abuseReportsBy } from '../abuse/entity.ts'
import { verificationsBy } from '../verification/entity.ts'
import type { OverviewView } from './overview-schema.ts'

const DAYS = 7

/**
 * Handles `GET /admin/overview`. Record counts come from totals that change in the records' own transactions, so they
 * are exact when read. Runs and deliveries are counted by the platform's counters, to which active runs are added.
 */
export const loadOverview = async (deps: Pick<Deps, 'table' | 'clock'>): Promise<OverviewView> => {
  const calendar = calendarOf('UTC')
  const now = deps.clock.now()
  const [developers, apps, customer, sandbox, installations, { byDate, active }, waiting] = await Promise.all([
    developerTotals(deps),
    each(APP_STATUSES, (status) => readTotal(deps, standingLists(status, undefined))),
    each(WORKSPACE_STATUSES, (status) => readTotal(deps, [workspacesBy(status, false)])),
    each(WORKSPACE_STATUSES, (status) => readTotal(deps, [workspacesBy(status, true)])),
    each(['active', 'suspended'] as const, (status) => readTotal(deps, [installationsBy(status)])),
    loadSumsByDate(deps, calendar, datesUpTo(calendar.dateOf(now), DAYS)),
    each(Object.keys(WAITING) as (keyof typeof WAITING)[], (what) => readTotal(deps, [WAITING[what]])),
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
  revisions_in_review: reviewQueue('revision'),
  abuse_reports: abuseReportsBy('open'),
  verifications: verificationsBy('pending'),
}

/** Adds up the shards of a counter. A read between two shard updates can yield a negative sum, which counts as zero. */
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
    each(DEVELOPER_STATUSES, (status) => readTotal(deps, [developersBy(status, verified)]))
  const [verified, unverified] = await Promise.all([of(true), of(false)])
  const active = verified.active + unverified.active
  const blocked = verified.blocked + unverified.blocked
  return { total: active + blocked, active, blocked, verified: verified.active + verified.blocked }
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
