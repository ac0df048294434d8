import { DAY } from '#shared/kernel/clock.ts'
import { ConditionFailed } from '#shared/table/entity.ts'
import { either, lte, missing } from '#shared/table/expressions.ts'
import type { Deps } from '../work/work.ts'
import { BucketEntity } from './entity.ts'

/** Longest time until a slot. A longer queue exceeds its pace. */
const LONGEST = DAY

/**
 * Reserves the next of a series of evenly spaced times, by one atomic write or two, whatever many callers do. Unlike a bucket,
 * it refuses no one: everyone waits for a time of their own.
 * @param interval time between two slots, in ms
 * @returns epoch ms; now if the series is idle
 */
export const reserveSlot = async (
  { table, clock }: Pick<Deps, 'table' | 'clock'>,
  name: string,
  interval: number,
): Promise<number> => {
  const now = clock.now()
  try {
    const idle = { tat: either(missing, lte(now)) }
    await table.transact([
      BucketEntity.replace({ name, tat: now + interval, expires_at: now + 2 * DAY }, { where: idle }),
    ])
    return now
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error
  }
  try {
    const later = { tat: lte(now + LONGEST) }
    const bucket = await table.change<{ tat: number }>(
      BucketEntity.update({ name }, { add: { tat: interval }, set: { expires_at: now + 2 * DAY } }, { where: later }),
    )
    return Math.max(now, (bucket?.tat ?? now + interval) - interval)
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error
    return error.current ? now + LONGEST : now
  }
}
