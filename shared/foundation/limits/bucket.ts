import { setTimeout as pause } from 'node:timers/promises'
import { DAY } from '#shared/kernel/clock.ts'
import { ConditionFailed, ifUnchanged } from '#shared/table/entity.ts'
import { either, lte, missing, type Where } from '#shared/table/expressions.ts'
import type { Deps } from '../work/work.ts'
import { BucketEntity, type StoredBucket } from './entity.ts'
import { decisionOf, intervalOf, isImpossible, type Rate, type RateDecision, taken, toleranceOf } from './gcra.ts'

/** One of the rate limits that share an item. */
export interface Part {
  /** Field of its arrival time. */
  field: string
  rate: Rate
}

/** Parts that an item holds before full ones are removed. It then still costs one unit to write. */
const PARTS = 12

/** Parts removed by one write, because its expression is limited to 4 KB. */
const REMOVED = 50

/**
 * Attempts against other writers. Three are enough unless a part is about to be full: then its arrival time passes with every
 * attempt, and each lost one means that another request got through.
 */
const ATTEMPTS = 100

/** Attempts without a pause. */
const AT_ONCE = 3

/** Longest pause in ms before another attempt. */
const PAUSE = 20

/**
 * Takes one request from all of these parts of an item, or from none, with the generic cell rate algorithm (GCRA). A part is one
 * number, the theoretical arrival time. Conditional writes change it, so parallel requests are counted exactly. A full part
 * allows exactly its burst. Costs one write while all parts are full or one is empty, and two in between.
 *
 * A part that is full says nothing that its absence wouldn't say, so it may be removed at any time. A limit of the whole item
 * bounds how many of its parts can be in use at once.
 */
export const takeTogether = async (
  deps: Pick<Deps, 'table' | 'clock'>,
  name: string,
  parts: readonly Part[],
): Promise<RateDecision[]> => {
  let known: Partial<StoredBucket> = {}
  let before = Number.POSITIVE_INFINITY
  for (let attempt = 1; ; attempt++) {
    const now = deps.clock.now()
    // One that wasn't full a moment ago is added to, even if it is now: that never conflicts with other requests.
    const full = Math.min(before, now)
    before = now
    const tats = parts.map(({ field }) => known[field] as number | undefined)
    const decisions = parts.map(({ rate }, i) => decisionOf(rate, tats[i], now))
    if (decisions.some(({ allowed }) => !allowed)) return decisions
    const where: Record<string, unknown> = {}
    const set: Partial<StoredBucket> = { name, expires_at: now + DAY }
    const add: Record<string, number> = {}
    for (const [i, { field, rate }] of parts.entries()) {
      const [tat, interval, limit] = [tats[i] ?? 0, intervalOf(rate), now + toleranceOf(rate)]
      if (isImpossible(rate, tat, now)) [set[field], where[field]] = [now + interval, tat]
      else if (tat > full) [add[field], where[field]] = [interval, lte(limit)]
      else [set[field], where[field]] = [now + interval, either(missing, lte(now))]
    }
    try {
      const bucket = await deps.table.change<StoredBucket>(
        BucketEntity.upsert({ name }, { set, add }, { where: where as Where<StoredBucket> }),
      )
      await removeFull(deps, bucket, parts)
      return parts.map(({ field, rate }) => taken(rate, Number(bucket?.[field] ?? now), now))
    } catch (error) {
      if (!(error instanceof ConditionFailed) || attempt === ATTEMPTS) throw error
      known = (error.current as StoredBucket | undefined) ?? {}
      if (attempt >= AT_ONCE) await pause(PAUSE * Math.random())
    }
  }
}

/** Removes full parts from an item with too many or old ones, unless another request takes from one of them. */
const removeFull = async (
  { table, clock }: Pick<Deps, 'table' | 'clock'>,
  bucket: StoredBucket | undefined,
  used: readonly Part[],
): Promise<void> => {
  const { name = '', tat: _, expires_at: __, ...others } = bucket ?? {}
  const now = clock.now()
  const isOld = (tat: unknown) => (tat as number) < now - DAY
  if (Object.keys(others).length <= PARTS && !Object.values(others).some(isOld)) return
  const full = Object.entries(others)
    .filter(([field, tat]) => (tat as number) <= now && used.every((part) => part.field !== field))
    .slice(0, REMOVED)
  if (full.length === 0) return
  const set = Object.fromEntries(full.map(([field]) => [field, undefined]))
  const where = Object.fromEntries(full.map(([field]) => [field, lte(now)]))
  await ifUnchanged(table.transact([BucketEntity.update({ name }, { set }, { where })]))
}

/** Takes one request from a bucket with one rate limit. */
export const takeFromBucket = async (
  deps: Pick<Deps, 'table' | 'clock'>,
  name: string,
  rate: Rate,
): Promise<RateDecision> => {
  const [decision] = await takeTogether(deps, name, [{ field: 'tat', rate }])
  return decision as RateDecision
}

/** Returns the request to these parts after it was refused for another reason. */
export const returnTogether = async (
  { table }: Pick<Deps, 'table'>,
  name: string,
  parts: readonly Part[],
): Promise<void> => {
  const add = Object.fromEntries(parts.map(({ field, rate }) => [field, -intervalOf(rate)]))
  // If the bucket has expired, there is nothing to return: a new one is full. So is a part that was removed.
  await ifUnchanged(table.transact([BucketEntity.update({ name }, { add })]))
}

export const returnToBucket = (deps: Pick<Deps, 'table'>, name: string, rate: Rate): Promise<void> =>
  returnTogether(deps, name, [{ field: 'tat', rate }])
