import { type Installation, InstallationEntity } from '#shared/access/installations/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { UserEntity } from '#shared/identity/people/index.ts'
import { DAY, utcDate } from '#shared/kernel/clock.ts'
import type { Entity } from '#shared/table/entity.ts'
import { allItems } from '#shared/table/pages.ts'
import { listActiveIn, readWithActive } from '../observed-runs/active-runs.ts'
import type { ActiveRun } from '../observed-runs/entity.ts'
import {
  type AgentDay,
  AgentDayEntity,
  DURATION_BOUNDS,
  durationField,
  type PersonDay,
  PersonDayEntity,
  QUARTER_COUNTERS,
  QUARTERS,
  quarterField,
  WORKSPACE_SHARDS,
  WorkspaceNowEntity,
} from '../statistics/entity.ts'
import { quarterOf } from '../statistics/workspace.ts'
import { type Calendar, calendarOf, datesUpTo } from './days.ts'
import type { AnalyticsView } from './schemas.ts'

type Counter = (typeof QUARTER_COUNTERS)[number]
type Sums = Record<Counter, number> & { durations: number[] }

const nothing = (): Sums => ({
  runs: 0,
  succeeded: 0,
  failed: 0,
  cancelled: 0,
  duration_ms: 0,
  cost_units: 0,
  tokens: 0,
  durations: Array(DURATION_BOUNDS.length + 1).fill(0),
})

/** Maximum number of agents listed individually. */
const NAMED = 100
const PAGE = 1_000

/**
 * `GET /console/analytics`: reads counters, and adds active runs. The cost grows with the requested days, the workspace's agents
 * and their active runs, never with the number of other runs. The figures lag behind events by a few seconds.
 */
export const readAnalytics = async (
  deps: Pick<Deps, 'table' | 'clock'>,
  workspace_id: string,
  { days, tz }: { days: number; tz: string },
): Promise<AnalyticsView> => {
  const calendar = calendarOf(tz)
  const dates = datesUpTo(calendar.dateOf(deps.clock.now()), days)
  const [[now, agentDays, personDays], active] = await readWithActive(
    () => listActiveIn(deps, workspace_id),
    () =>
      Promise.all([
        deps.table.get(WorkspaceNowEntity, { workspace_id }),
        listRows(deps, AgentDayEntity, agentKey, workspace_id, dates),
        listRows(deps, PersonDayEntity, personKey, workspace_id, dates),
      ]),
  )
  const rows = [...agentDays, ...active.map(agentDayOf)]
  const people = [...personDays, ...active.flatMap(personDayOf)]
  const byDate = new Map(dates.map((date) => [date, nothing()]))
  const byAgent = new Map<string, Sums>()
  const byPerson = new Map<string, Sums>()
  const total = nothing()
  for (const row of rows) addRow(row, calendar, byDate, byAgent, total)
  for (const row of people) addCounters(row, row.user_id, calendar, byDate, byPerson, [])
  const agents = busiest(byAgent)
  return {
    time_zone: tz,
    from: dates[0] ?? '',
    to: dates.at(-1) ?? '',
    ...figures(total),
    daily: [...byDate].map(([date, sums]) => ({ date, ...outcomes(sums), ...costs(sums) })),
    by_agent: await loadNames(deps, workspace_id, agents.slice(0, NAMED)),
    by_person: await loadPeople(deps, busiest(byPerson).slice(0, NAMED)),
    agents: { installed: Math.max(0, now?.installed ?? 0), active: agents.length },
    approvals_pending: now?.approvals_pending ?? 0,
    tasks: {
      todo: now?.tasks_todo ?? 0,
      in_progress: now?.tasks_in_progress ?? 0,
      discuss: now?.tasks_discuss ?? 0,
      review: now?.tasks_review ?? 0,
      done: now?.tasks_done ?? 0,
    },
  }
}

/** Returns what an active run adds to its day. */
const startedOn = ({ workspace_id, created_at }: ActiveRun) => ({
  workspace_id,
  shard: 0,
  day: utcDate(created_at),
  [quarterField('runs', quarterOf(created_at))]: 1,
})

const agentDayOf = (run: ActiveRun): AgentDay => ({ ...startedOn(run), installation_id: run.installation_id })

const personDayOf = (run: ActiveRun): PersonDay[] =>
  run.user_id === undefined ? [] : [{ ...startedOn(run), user_id: run.user_id }]

/** Lists an entity's counters of these dates in any time zone, which is at most a day away from UTC. */
const listRows = async <T extends object, Sk extends string>(
  { table }: Pick<Deps, 'table'>,
  entity: Entity<T, 'WSTATS#{workspace_id}#{shard}', Sk>,
  skOf: (day: string, id: string) => string,
  workspace_id: string,
  dates: readonly string[],
): Promise<T[]> => {
  const near = (date: string | undefined, by: number) => utcDate(Date.parse(date ?? '') + by * DAY)
  const bounds = { from: skOf(near(dates[0], -1), '!'), to: skOf(near(dates.at(-1), 1), '~') }
  const options = { limit: PAGE, consistent: false, ...bounds }
  const shards = await Promise.all(
    Array.from({ length: WORKSPACE_SHARDS }, (_, shard) =>
      allItems((after) => table.query(entity, { workspace_id, shard }, { ...options, after })),
    ),
  )
  return shards.flat()
}

const anywhere = { workspace_id: '-', shard: 0 }

const agentKey = (day: string, installation_id: string): string =>
  AgentDayEntity.key({ ...anywhere, day, installation_id }).sk

const personKey = (day: string, user_id: string): string => PersonDayEntity.key({ ...anywhere, day, user_id }).sk

/**
 * Adds the part of a row that lies within the dates. Durations are kept per UTC day. If a day lies partly within the
 * dates, all its durations count.
 */
const addRow = (
  row: AgentDay,
  calendar: Calendar,
  byDate: ReadonlyMap<string, Sums>,
  byAgent: Map<string, Sums>,
  total: Sums,
): void => {
  const agent = addCounters(row, row.installation_id, calendar, byDate, byAgent, [total], byDate)
  if (!agent) return
  for (let i = 0; i <= DURATION_BOUNDS.length; i++) {
    const n = Number(row[durationField(i)] ?? 0)
    for (const { durations } of [agent, total]) durations[i] = (durations[i] ?? 0) + n
  }
}

/**
 * Adds a row's counters of the dates to its subject's sums.
 * @param more further sums
 * @param daily sums by date, for the rows that count there
 * @returns the subject's sums; undefined if nothing is within the dates
 */
const addCounters = (
  row: Readonly<Record<string, string | number>> & { day: string },
  subject: string,
  calendar: Calendar,
  dates: ReadonlyMap<string, Sums>,
  bySubject: Map<string, Sums>,
  more: readonly Sums[],
  daily?: ReadonlyMap<string, Sums>,
): Sums | undefined => {
  const own = bySubject.get(subject) ?? nothing()
  let any = false
  for (let quarter = 0; quarter < QUARTERS; quarter++) {
    for (const counter of QUARTER_COUNTERS) {
      const n = row[quarterField(counter, quarter)]
      if (typeof n !== 'number') continue
      const date = calendar.dateOfQuarter(row.day, quarter)
      if (!dates.has(date)) continue
      any = true
      const ofDay = daily?.get(date)
      for (const sums of [own, ...more, ...(ofDay ? [ofDay] : [])]) sums[counter] += n
    }
  }
  if (!any) return undefined
  bySubject.set(subject, own)
  return own
}

const busiest = (sums: ReadonlyMap<string, Sums>): [string, Sums][] =>
  [...sums].sort(([, a], [, b]) => b.runs - a.runs || b.tokens - a.tokens)

const outcomes = ({ runs, succeeded, failed, cancelled }: Sums) => ({ runs, succeeded, failed, cancelled })

/** Rounds a sum of decimals to remove floating-point errors. */
const units = ({ cost_units }: Sums): number => Number(cost_units.toFixed(9))

const costs = (sums: Sums) => ({ cost_units: units(sums), tokens: sums.tokens })

const figures = (sums: Sums) => {
  const ended = sums.succeeded + sums.failed
  return {
    ...outcomes(sums),
    success_rate: ended === 0 ? null : Math.round((10_000 * sums.succeeded) / ended) / 10_000,
    duration_ms: ended === 0 ? null : { average: Math.round(sums.duration_ms / ended), median: median(sums) },
    ...costs(sums),
  }
}

/** Returns the upper bound of the bucket that holds the median. */
const median = ({ durations }: Sums): number | null => {
  const half = durations.reduce((all, n) => all + n, 0) / 2
  let seen = 0
  for (const [i, bound] of DURATION_BOUNDS.entries()) {
    seen += durations[i] ?? 0
    if (seen >= half) return bound
  }
  return null
}

const loadNames = async (
  { table }: Pick<Deps, 'table'>,
  workspace_id: string,
  agents: readonly (readonly [string, Sums])[],
): Promise<AnalyticsView['by_agent']> => {
  const found = (await table.getAll(agents.map(([id]) => InstallationEntity.ref({ workspace_id, id })))) as (
    | Installation
    | undefined
  )[]
  return agents.map(([installation_id, sums], i) => ({
    installation_id,
    name: found[i]?.app_name ?? null,
    ...figures(sums),
  }))
}

const loadPeople = async (
  { table }: Pick<Deps, 'table'>,
  people: readonly (readonly [string, Sums])[],
): Promise<AnalyticsView['by_person']> => {
  const found = await table.getAll(people.map(([id]) => UserEntity.ref({ id })))
  return people.map(([user_id, sums], i) => ({
    user_id,
    name: found[i]?.name ?? null,
    ...outcomes(sums),
    ...costs(sums),
  }))
}
