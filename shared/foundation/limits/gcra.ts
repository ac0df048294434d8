import { SECOND } from '#shared/kernel/clock.ts'

/** Rate limit: requests per second in the long run, and the burst that a full bucket allows at once. */
export interface Rate {
  perSecond: number
  burst: number
}

export interface RateDecision {
  allowed: boolean
  rate: Rate
  /** Requests that the bucket would allow now. */
  remaining: number
  /** Seconds until the next request is allowed. 0 if this one was allowed. */
  retryAfter: number
}

/** Tolerated clock skew between functions. Amazon Time Sync Service keeps it within milliseconds. */
const CLOCK_SKEW = SECOND

/** Time in ms for which a bucket pays with one request. */
export const intervalOf = ({ perSecond }: Rate): number => 1_000 / perSecond

/** Returns how far ahead of now an arrival time may be that still fits the burst, in ms. */
export const toleranceOf = (rate: Rate): number => (rate.burst - 1) * intervalOf(rate)

/** Returns the decision for a request that was taken. @param tat arrival time after it */
export const taken = (rate: Rate, tat: number, now: number): RateDecision => ({
  allowed: true,
  rate,
  remaining: Math.max(0, Math.floor((rate.burst * intervalOf(rate) - (tat - now)) / intervalOf(rate) + 1e-6)),
  retryAfter: 0,
})

/**
 * Returns true for a bucket that is emptier than possible, because this clock or the writer's was wrong. It is reset. Otherwise, a
 * function whose clock is behind would refuse its callers for as long as others use the bucket.
 */
export const isImpossible = (rate: Rate, tat: number, now: number): boolean =>
  tat > now + toleranceOf(rate) + intervalOf(rate) + CLOCK_SKEW

/** Returns the decision by a known arrival time, as if it were still the same. */
export const decisionOf = (rate: Rate, tat = 0, now: number): RateDecision => {
  const limit = now + toleranceOf(rate)
  return tat > limit && !isImpossible(rate, tat, now) ? refused(rate, tat, limit) : taken(rate, tat, now)
}

/** Returns the decision for a request that doesn't fit. @param limit greatest arrival time that would fit, in epoch ms */
const refused = (rate: Rate, tat: number, limit: number): RateDecision => ({
  allowed: false,
  rate,
  remaining: 0,
  retryAfter: Math.max(1, Math.ceil((tat - limit) / 1_000)),
})
