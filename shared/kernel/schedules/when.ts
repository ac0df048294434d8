import { DAY, HOUR, MINUTE, SECOND } from '#shared/kernel/clock.ts'
import { nextByClock, readCron } from './cron.ts'

/** When a schedule fires (contract/schedules.md#times). */
export type When = { cron: string; time_zone: string } | { every: string } | { at: string }

/** Longest interval of `every`. */
const LONGEST = 366 * DAY

const DURATION = /^P(?:(\d{1,4})W)?(?:(\d{1,4})D)?(?:T(?=\d)(?:(\d{1,5})H)?(?:(\d{1,6})M)?(?:(\d{1,8})S)?)?$/

/** Reads an ISO 8601 duration without months and years, which have no fixed length. @returns ms */
export const readDuration = (text: string): number | undefined => {
  const parts = DURATION.exec(text)?.slice(1)
  if (!parts?.some((part) => part !== undefined)) return undefined
  const [weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = parts.map((part) => Number(part ?? 0))
  const ms = (weeks * 7 + days) * DAY + hours * HOUR + minutes * MINUTE + seconds * SECOND
  return ms >= MINUTE && ms <= LONGEST ? ms : undefined
}

/**
 * Returns the first time after `after` at which a schedule fires; undefined if it doesn't again.
 * @param since time from which `every` counts
 */
export const nextTime = (when: When, since: number, after: number): number | undefined => {
  if ('at' in when) {
    const at = Date.parse(when.at)
    return at > after ? at : undefined
  }
  if ('every' in when) {
    const step = readDuration(when.every) ?? LONGEST
    return since + Math.max(1, Math.floor((after - since) / step) + 1) * step
  }
  const times = readCron(when.cron)
  return typeof times === 'string' ? undefined : nextByClock(times, when.time_zone, after)
}
