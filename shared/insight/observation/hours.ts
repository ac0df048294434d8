import {
  PLATFORM_COUNTERS,
  type PlatformCounter,
  type PlatformHour,
  PlatformHourEntity,
  platformField,
} from '#shared/foundation/counters/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { DAY } from '#shared/kernel/clock.ts'
import { eachItem } from '#shared/table/pages.ts'
import type { Calendar } from '../analytics/days.ts'
import { listAllActive, readWithActive } from '../observed-runs/active-runs.ts'

export type DaySums = Record<PlatformCounter, number>

const nothing = (): DaySums =>
  Object.fromEntries(PLATFORM_COUNTERS.map((counter) => [counter, 0])) as Record<PlatformCounter, number>

const PAGE = 1_000
const QUARTERS_OF_HOUR = 4

/**
 * Sums the platform's counters by date, and adds the active runs. The cost grows with the number of dates and of active runs, up to
 * 160,000, never with the other activity.
 * @returns also the number of active runs that were added
 */
export const loadSumsByDate = async (
  deps: Pick<Deps, 'table'>,
  calendar: Calendar,
  dates: readonly string[],
): Promise<{ byDate: Map<string, DaySums>; active: number }> => {
  const [byDate, active] = await readWithActive(
    () => listAllActive(deps),
    () => sumHours(deps, calendar, dates),
  )
  for (const { created_at, is_sandbox } of active) {
    const sums = byDate.get(calendar.dateOf(created_at))
    if (!sums) continue
    sums.runs++
    if (is_sandbox) sums.sandbox_runs++
  }
  return { byDate, active: active.length }
}

const sumHours = async (
  { table }: Pick<Deps, 'table'>,
  calendar: Calendar,
  dates: readonly string[],
): Promise<Map<string, DaySums>> => {
  const byDate = new Map(dates.map((date) => [date, nothing()]))
  // No time zone is more than a day away from UTC.
  const near = (date: string | undefined, by: number) =>
    new Date(Date.parse(date ?? '') + by * DAY).toISOString().slice(0, 13)
  const sk = (hour: string) => PlatformHourEntity.key({ shard: 0, hour }).sk
  const bounds = { from: sk(near(dates[0], -1)), to: sk(near(dates.at(-1), 2)) }
  await Promise.all(
    Array.from({ length: table.counterShards }, async (_, shard) => {
      // Eventually consistent reads lag by a second at most and cost half.
      const options = { limit: PAGE, consistent: false, ...bounds }
      const rows = eachItem((after) => table.query(PlatformHourEntity, { shard }, { ...options, after }))
      for await (const row of rows) addHour(row, calendar, byDate)
    }),
  )
  return byDate
}

const addHour = (row: PlatformHour, calendar: Calendar, byDate: ReadonlyMap<string, DaySums>): void => {
  const day = row.hour.slice(0, 10)
  const first = Number(row.hour.slice(11)) * QUARTERS_OF_HOUR
  for (let quarter = 0; quarter < QUARTERS_OF_HOUR; quarter++) {
    const sums = byDate.get(calendar.dateOfQuarter(day, first + quarter))
    if (!sums) continue
    for (const counter of PLATFORM_COUNTERS) sums[counter] += Number(row[platformField(counter, quarter)] ?? 0)
  }
}
