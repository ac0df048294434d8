import { Cron } from 'croner'
import { DAY } from '#shared/kernel/clock.ts'
import { changeBetween, clockAt, offsetAt } from './zone.ts'

/** Part of a field. Others are extensions that people read differently. */
const FIELD = /^(?:\d+|[A-Z]{3}|[*,/-])+$/i

/** Clocks are changed by at most a day: islands that move to the other side of the date line. */
const FARTHEST = DAY

/** Clock times that are looked at for one occurrence: every minute of two changes of a day. */
const MOST_LOOKED_AT = 6_000

/** Times of a cron expression, as clocks read them. */
interface ClockTimes {
  /** Returns the next reading after one, each as the epoch ms at which a clock in UTC reads the same. */
  next(after: number): number | undefined
  /** The hour field is `*` or `*` with a step, so every pass of a clock through an hour counts. */
  isHourly: boolean
}

/** @returns the times of a cron expression; a text that says what is wrong if it isn't one, or never fires */
export const readCron = (text: string): ClockTimes | string => {
  const fields = text.trim().split(/\s+/)
  const [, hour = '', day = '', , weekday = ''] = fields
  if (fields.length !== 5) return 'must have five fields: minute, hour, day of month, month, weekday'
  if (!fields.every((field) => FIELD.test(field))) {
    return 'takes numbers, names of months and weekdays such as MON, and * , - / only'
  }
  let cron: Cron
  try {
    cron = new Cron(fields.join(' '), {
      paused: true,
      mode: '5-part',
      utcOffset: 0,
      // Vixie cron: either of the two fires if both are restricted, and a field that begins with * isn't.
      domAndDow: day.startsWith('*') || weekday.startsWith('*'),
    })
  } catch {
    return 'isn’t a cron expression: a value is out of its field’s range, or a field can’t be read'
  }
  const next = (after: number): number | undefined => cron.nextRun(new Date(after))?.getTime()
  if (next(Date.UTC(2026, 0, 1)) === undefined) return 'never fires: no date matches its day and month'
  return { next, isHourly: hour.startsWith('*') }
}

/**
 * Returns the next time after `after` at which a cron expression fires in a zone (contract/schedules.md#clock-changes). With
 * fixed hours, a clock time that a change skips fires at the first moment after the change, and one that comes twice fires
 * at its first pass. With every hour, both passes fire, and skipped times don't.
 */
export const nextByClock = ({ next, isHourly }: ClockTimes, zone: string, after: number): number | undefined => {
  let best: number | undefined
  let reading = after + Math.min(...offsetsAround(zone, after, FARTHEST)) - 1
  for (let looked = 0; looked < MOST_LOOKED_AT; looked++) {
    const found = next(reading)
    if (found === undefined) break
    reading = found
    // A later reading can't be an earlier time than the best one.
    if (best !== undefined && reading > best + Math.max(...offsetsAround(zone, best, FARTHEST))) break
    for (const at of timesOf(zone, reading, isHourly)) {
      if (at > after && (best === undefined || at < best)) best = at
    }
  }
  return best
}

const offsetsAround = (zone: string, at: number, distance: number): number[] => [
  ...new Set([at - distance, at, at + distance].map((time) => offsetAt(zone, time))),
]

/** Returns the times at which a clock reading fires: none, one or two. */
const timesOf = (zone: string, reading: number, isHourly: boolean): number[] => {
  const times = offsetsAround(zone, reading, 2 * FARTHEST)
    .map((offset) => reading - offset)
    .filter((at) => clockAt(zone, at) === reading)
    .sort((one, other) => one - other)
  if (isHourly) return times
  return times.length === 0 ? [changeBetween(zone, reading - 2 * FARTHEST, reading + 2 * FARTHEST)] : times.slice(0, 1)
}
