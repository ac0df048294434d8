import { readCron } from './cron.ts'
import { readDuration, type When } from './when.ts'

const isZone = (zone: string): boolean => {
  // Intl also accepts an offset, which isn't the name of a zone.
  if (!/^[A-Za-z]/.test(zone)) return false
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

/** Returns what is wrong with it, in words for the person who wrote it, or undefined. */
export const problemOf = (
  when: When,
  now: number,
): { field: 'cron' | 'time_zone' | 'every' | 'at'; message: string } | undefined => {
  if ('every' in when) {
    return readDuration(when.every) === undefined
      ? { field: 'every', message: 'must be an ISO 8601 duration from PT1M to 366 days, without months and years' }
      : undefined
  }
  if ('at' in when) {
    const at = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/.test(when.at)
      ? Date.parse(when.at)
      : Number.NaN
    if (Number.isNaN(at)) return { field: 'at', message: 'must be a time such as 2026-12-31T09:00:00+01:00' }
    return at <= now ? { field: 'at', message: 'must be in the future' } : undefined
  }
  const cron = readCron(when.cron)
  if (typeof cron === 'string') return { field: 'cron', message: cron }
  return isZone(when.time_zone)
    ? undefined
    : { field: 'time_zone', message: 'must be the name of a time zone, such as Europe/Amsterdam' }
}
