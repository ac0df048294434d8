import type { Deps } from '#shared/foundation/work/index.ts'
import { DAY, utcDate } from '#shared/kernel/clock.ts'
import { missing } from '#shared/table/expressions.ts'
import { allItems } from '#shared/table/pages.ts'
import {
  type AppDay,
  AppDayEntity,
  type AppTotal,
  AppTotalEntity,
  openField,
  RUN_COUNTERS,
  type RunCounter,
  type StatsBlock,
} from './entity.ts'

/** Age of a day from which its events are counted in the total at once. */
const OPEN_FOR = 8 * DAY

/** Age of a day from which its open counters are added to the total. Longer, in case clocks differ. */
const FOLDED_AFTER = 12 * DAY

/** True for an event that is counted in its day's open counters, and not in the total. */
export const isOpen = (now: number, eventAt: number): boolean => utcDate(eventAt) >= utcDate(now - OPEN_FOR)

/** Counters of runs. */
type Runs = { [C in RunCounter]?: number }

interface Shard {
  app_id: string
  block: StatsBlock
  shard: number
}

/** Loads a shard's total, and its days from the earlier one of `from` and the first that isn't part of the total. */
export const loadShard = async (
  deps: Pick<Deps, 'table' | 'clock'>,
  key: Shard,
  from?: string,
): Promise<{ total: Partial<AppTotal>; days: AppDay[] }> => {
  const { table } = deps
  // Before the days: another reader may add some of them in between.
  const stored = await table.get(AppTotalEntity, key)
  const through = stored?.through ?? ''
  const sk = (day: string): string => AppDayEntity.key({ ...key, day }).sk
  const first = from === undefined || through < from ? through : from
  const bounds = { from: sk(first === '' ? '!' : first), to: sk('~') }
  const rows = await allItems((after) =>
    table.query(AppDayEntity, { app_id: key.app_id, shard: key.shard }, { limit: PAGE, ...bounds, after }),
  )
  const open = rows.filter(({ day }) => day > through)
  await fold(deps, key, stored, open)
  return { total: plus(stored ?? {}, open), days: rows.map((row) => ({ ...row, ...plus(row, [row]) })) }
}

const PAGE = 1_000

const plus = <T extends Runs>(counted: T, days: readonly AppDay[]): T => {
  const sums: Runs = {}
  for (const counter of RUN_COUNTERS) {
    const n = (counted[counter] ?? 0) + openOf(days, counter)
    if (n !== 0) sums[counter] = n
  }
  return { ...counted, ...sums }
}

const openOf = (days: readonly AppDay[], counter: RunCounter): number =>
  days.reduce((sum, day) => sum + Number(day[openField(counter)] ?? 0), 0)

/**
 * Adds the open counters of old days to the total, so that no reader has to read those days again. No event changes the open
 * counters of such a day any more ({@link isOpen}), and of several readers one succeeds.
 */
const fold = async (
  { table, clock }: Pick<Deps, 'table' | 'clock'>,
  key: Shard,
  total: AppTotal | undefined,
  open: readonly AppDay[],
): Promise<void> => {
  const limit = utcDate(clock.now() - FOLDED_AFTER)
  const old = open.filter(({ day }) => day < limit)
  const through = old
    .map(({ day }) => day)
    .sort()
    .at(-1)
  if (through === undefined) return
  const add = Object.fromEntries(
    RUN_COUNTERS.map((counter) => [counter, openOf(old, counter)] as const).filter(([, n]) => n !== 0),
  )
  const where = { through: total?.through ?? missing }
  try {
    await table.transact([AppTotalEntity.upsert(key, { set: { ...key, through }, add }, { where })])
  } catch {
    // Another reader was first, or the next one does it.
  }
}
