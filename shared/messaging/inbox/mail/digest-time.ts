import { DAY, HOUR, MINUTE, utcDate } from '#shared/kernel/clock.ts'
import { offsetAt } from '#shared/kernel/schedules/zone.ts'

/** Hour of the day at which digests are sent, in the person's time zone. */
const DIGEST_HOUR = 8

/** Returns the difference of a time zone's clocks from UTC, in ms. An unknown zone counts as UTC. */
const offsetIn = (timeZone: string, ms: number): number => {
  try {
    return Math.round(offsetAt(timeZone, ms) / MINUTE) * MINUTE
  } catch {
    return 0
  }
}

/** Returns the date in a time zone, as `2026-11-21`. */
export const localDay = (ms: number, timeZone: string): string => utcDate(ms + offsetIn(timeZone, ms))

/**
 * Returns the time of the next digest: at 8 in the morning in the person's time zone, and on another day than the last.
 * @param lastDay local date of the last digest
 */
export const nextDigestAt = (now: number, timeZone: string, lastDay: string | undefined): number => {
  const today = Date.parse(localDay(now, timeZone))
  for (let days = 0; ; days++) {
    const wall = today + days * DAY + DIGEST_HOUR * HOUR
    // The offset at that time, which a change of the clocks may have changed.
    const guess = wall - offsetIn(timeZone, now)
    const at = wall - offsetIn(timeZone, guess)
    if (at > now && localDay(at, timeZone) !== lastDay) return at
  }
}
