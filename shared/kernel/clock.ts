/** Source of the current time, in milliseconds since the epoch. Tests inject their own. */
export interface Clock {
  now(): number
}

export const systemClock: Clock = { now: () => Date.now() }

/** Formats a time as ISO 8601 in UTC with an offset and milliseconds: `2026-11-21T10:15:30.123+00:00` (contract/general.md#times). */
export const iso = (ms: number): string => `${new Date(ms).toISOString().slice(0, -1)}+00:00`

/** Formats the date of a time in UTC, `YYYY-MM-DD`. */
export const utcDate = (ms: number): string => new Date(ms).toISOString().slice(0, 10)

export const SECOND = 1_000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR
