import { type Clock, DAY, iso } from '#shared/kernel/clock.ts'
import type { Write } from '#shared/table/entity.ts'
import { either, lt, missing } from '#shared/table/expressions.ts'
import { DayBudgetEntity } from './entity.ts'

const today = (clock: Clock, name: string) => ({ name, day: iso(clock.now()).slice(0, 10) })

/**
 * Returns the write that spends one unit of a budget per UTC day. In the transaction of what it pays for, it is exact:
 * nothing is spent on a refused change.
 * @param otherwise returns the error when the day's budget is spent
 */
export const spendDayBudget = (clock: Clock, name: string, limit: number, otherwise: () => unknown): Write => {
  const key = today(clock, name)
  return DayBudgetEntity.upsert(
    key,
    { set: { ...key, expires_at: clock.now() + 2 * DAY }, add: { n: 1 } },
    { where: { n: either(missing, lt(limit)) }, otherwise },
  )
}

/** Returns the write that lets one caller a day announce that a budget is spent. @param otherwise error for the others */
export const announceSpentBudget = (clock: Clock, name: string, otherwise: () => unknown): Write =>
  DayBudgetEntity.update(today(clock, name), { set: { announced: true } }, { where: { announced: missing }, otherwise })
