import { DAY } from '#shared/kernel/clock.ts'
import type { Budget } from './entity.ts'

/** Names the UTC day or month of a time. */
export const periodOf = (period: Budget['period'], now: number): string =>
  new Date(now).toISOString().slice(0, period === 'day' ? 10 : 7)

/** Returns the time at which a day or month ends. */
export const endOf = (period: string): number => {
  const [year = 0, month = 1, day] = period.split('-').map(Number)
  return day === undefined ? Date.UTC(year, month, 1) : Date.UTC(year, month - 1, day + 1)
}

/** Runs outlive their period by a week at most, and then settle in its counter. */
export const expiryOf = (period: string): number => endOf(period) + 40 * DAY
