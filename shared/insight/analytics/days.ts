import { DAY, utcDate } from '#shared/kernel/clock.ts'
import { QUARTERS } from '../statistics/entity.ts'

/** Converts times to dates in a time zone. */
export interface Calendar {
  dateOf(ms: number): string
  /**
   * Returns the date that a quarter of an hour of a UTC day belongs to. No time zone's midnight is within a quarter hour.
   */
  dateOfQuarter(day: string, quarter: number): string
}

export const calendarOf = (timeZone: string): Calendar => {
  const format = new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' })
  const dateOf = (ms: number): string => (timeZone === 'UTC' ? utcDate(ms) : format.format(ms))
  const cache = new Map<string, string>()
  return {
    dateOf,
    dateOfQuarter(day, quarter) {
      const name = `${day} ${quarter}`
      const date = cache.get(name) ?? dateOf(Date.parse(day) + (quarter * DAY) / QUARTERS)
      cache.set(name, date)
      return date
    },
  }
}

/** Lists dates up to `last`, oldest first. Calendar days are consecutive in every time zone. */
export const datesUpTo = (last: string, days: number): string[] =>
  Array.from({ length: days }, (_, i) => utcDate(Date.parse(last) - (days - 1 - i) * DAY))
