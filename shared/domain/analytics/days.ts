import { QUARTERS } from '../../entities/statistics.ts'
import { DAY } from '../../kernel/clock.ts'

/** The dates of a time zone: which day of it a moment lies in, and the last so many. */
export interface Calendar {
  dateOf(ms: number): string
  /** The date of a quarter of an hour of a day in UTC; no time zone's midnight lies within one. */
  dateOfQuarter(day: string, quarter: number): string
}

export const calendarOf = (timeZone: string): Calendar => {
  const format = new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' })
  const dateOf = (ms: number): string =>
    timeZone === 'UTC' ? new Date(ms).toISOString().slice(0, 10) : format.format(ms)
  const known = new Map<string, string>()
  return {
    dateOf,
    dateOfQuarter(day, quarter) {
      const name = `${day} ${quarter}`
      const date = known.get(name) ?? dateOf(Date.parse(day) + (quarter * DAY) / QUARTERS)
      known.set(name, date)
      return date
    },
  }
}

/** So many dates, oldest first, up to one: the calendar's days follow each other in every time zone. */
export const datesUpTo = (last: string, days: number): string[] =>
  Array.from({ length: days }, (_, i) => new Date(Date.parse(last) - (days - 1 - i) * DAY).toISOString().slice(0, 10))
