import { DAY, SECOND } from '#shared/kernel/clock.ts'
import { ConditionFailed, ifUnchanged } from '#shared/table/entity.ts'
import { either, lte, missing } from '#shared/table/expressions.ts'
import type { Deps } from '../work/work.ts'
import { BucketEntity } from './entity.ts'

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
export const CLOCK_SKEW = SECOND

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
 * Takes one request from a bucket with the generic cell rate algorithm (GCRA). The bucket is one number, the theoretical
 * arrival time, changed by conditional writes, so parallel requests are counted exactly. A full bucket allows exactly
 * its burst. Costs one round trip for a full or empty bucket, and two in between.
 */
export const takeFromBucket = async (
  { table, clock }: Pick<Deps, 'table' | 'clock'>,
  name: string,
  rate: Rate,
): Promise<RateDecision> => {
  const interval = intervalOf(rate)
  const tolerance = toleranceOf(rate)
  let now = clock.now()
  try {
    await table.transact([
      BucketEntity.replace(
        { name, tat: now + interval, expires_at: now + DAY },
        { where: { tat: either(missing, lte(now)) } },
      ),
    ])
    return taken(rate, now + interval, now)
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error
    const known = (error.current as { tat: number }).tat
    // The bucket moved on if the response was slow. Compared with the old time it would look empty.
    now = clock.now()
    if (known > now + tolerance + interval + CLOCK_SKEW) return restarted({ table, clock }, name, rate, known)
    if (known > now + tolerance) return refused(rate, known, now + tolerance)
  }
  try {
    const bucket = await table.change<{ tat: number }>(
      BucketEntity.update({ name }, { add: { tat: interval } }, { where: { tat: lte(now + tolerance) } }),
    )
    return taken(rate, bucket?.tat ?? now, now)
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error
    // The bucket expired, which happens a day after it was last full. A new one is full.
    if (!error.current) return takeFromBucket({ table, clock }, name, rate)
    return refused(rate, (error.current as { tat: number }).tat, now + tolerance)
  }
}

/**
 * Resets a bucket that is emptier than possible, which means that this clock or the writer's was wrong. Otherwise a
 * function whose clock is behind would refuse its callers for as long as others use the bucket.
 */
const restarted = async (
  deps: Pick<Deps, 'table' | 'clock'>,
  name: string,
  rate: Rate,
  known: number,
): Promise<RateDecision> => {
  const now = deps.clock.now()
  await ifUnchanged(
    deps.table.transact([BucketEntity.replace({ name, tat: now, expires_at: now + DAY }, { where: { tat: known } })]),
  )
  return takeFromBucket(deps, name, rate)
}

/** Returns a request to the bucket after it was refused for another reason. */
export const returnToBucket = async ({ table }: Pick<Deps, 'table'>, name: string, rate: Rate): Promise<void> => {
  // If the bucket has expired, there is nothing to return: a new one is full.
  await ifUnchanged(table.transact([BucketEntity.update({ name }, { add: { tat: -intervalOf(rate) } })]))
}

/** Returns the decision for a request that doesn't fit. @param limit greatest arrival time that would fit, in epoch ms */
export const refused = (rate: Rate, tat: number, limit: number): RateDecision => ({
  allowed: false,
  rate,
  remaining: 0,
  retryAfter: Math.max(1, Math.ceil((tat - limit) / 1_000)),
})
