import { HOUR, MINUTE } from '#shared/kernel/clock.ts'

/** Returns the time of the next check. The interval equals the time waited so far, from a minute up to an hour. */
export const nextCheckAt = (now: number, waitingSince: number): number =>
  now + Math.min(HOUR, Math.max(MINUTE, now - waitingSince))
