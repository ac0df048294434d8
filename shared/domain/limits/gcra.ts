import { BucketEntity } from '../../entities/platform.ts'
import { DAY, SECOND } from '../../kernel/clock.ts'
import { ConditionFailed, ifUnchanged } from '../../table/entity.ts'
import { either, lte, missing } from '../../table/expressions.ts'
import type { Deps } from '../deps.ts'

/** A rate: requests a second in the long run, and how many at once a full bucket lets through. */
export interface Rate {
  perSecond: number
  burst: number
}

export interface Taken {
  allowed: boolean
  rate: Rate
  /** Requests that the bucket would let through right now. */
  remaining: number
  /** Seconds until the next one is let through; 0 when allowed. */
  retryAfter: number
}

/** Clocks of functions are milliseconds apart (Amazon Time Sync Service). */
const CLOCKS_DIFFER = SECOND

/**
 * Takes one from a bucket by the generic cell rate algorithm (GCRA): one number per bucket, the theoretical arrival
 * time, moved by conditional writes, so that parallel requests are counted exactly. A full bucket lets exactly its burst
 * through. One round trip for a bucket that is full or empty for sure, two when in between.
 */
export const take = async (
  { table, clock }: Pick<Deps, 'table' | 'clock'>,
  name: string,
  rate: Rate,
): Promise<Taken> => {
  const interval = 1_000 / rate.perSecond
  let now = clock.now()
  // What lies at most this far ahead of now still fits into the burst.
  const tolerance = (rate.burst - 1) * interval
  const taken = (tat: number): Taken => ({
    allowed: true,
    rate,
    remaining: Math.max(0, Math.floor((tolerance + interval - (tat - now)) / interval + 1e-6)),
    retryAfter: 0,
  })
  try {
    await table.transact([
      BucketEntity.replace(
        { name, tat: now + interval, expires_at: now + DAY },
        { where: { tat: either(missing, lte(now)) } },
      ),
    ])
    return taken(now + interval)
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error
    const known = (error.current as { tat: number }).tat
    // The answer may have taken long, and the bucket went on meanwhile: held against the old time it would look empty.
    now = clock.now()
    if (known > now + tolerance + interval + CLOCKS_DIFFER) return restarted({ table, clock }, name, rate, known)
    if (known > now + tolerance) return refused(rate, known, now + tolerance)
  }
  try {
    const bucket = await table.change<{ tat: number }>(
      BucketEntity.update({ name }, { add: { tat: interval } }, { where: { tat: lte(now + tolerance) } }),
    )
    return taken(bucket?.tat ?? now)
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error
    // Buckets expire a day after they were last full, in use or not: a new one is full.
    if (!error.current) return take({ table, clock }, name, rate)
    return refused(rate, (error.current as { tat: number }).tat, now + tolerance)
  }
}

/**
 * No bucket can be emptier than empty: a clock was wrong, this one or the one that wrote it. It starts anew; held to that time, a
 * function whose clock is behind would refuse its callers for as long as others use the bucket.
 */
const restarted = async (
  deps: Pick<Deps, 'table' | 'clock'>,
  name: string,
  rate: Rate,
  known: number,
): Promise<Taken> => {
  const now = deps.clock.now()
  await ifUnchanged(
    deps.table.transact([BucketEntity.replace({ name, tat: now, expires_at: now + DAY }, { where: { tat: known } })]),
  )
  return take(deps, name, rate)
}

/** Gives back what a request took that was then refused for another reason. */
export const giveBack = async ({ table }: Pick<Deps, 'table'>, name: string, rate: Rate): Promise<void> => {
  // Or it has expired meanwhile: the next one is full.
  await ifUnchanged(table.transact([BucketEntity.update({ name }, { add: { tat: -1_000 / rate.perSecond } })]))
}

const refused = (rate: Rate, tat: number, limit: number): Taken => ({
  allowed: false,
  rate,
  remaining: 0,
  retryAfter: Math.max(1, Math.ceil((tat - limit) / 1_000)),
})
