import { HOUR, MINUTE } from '#shared/kernel/clock.ts'
import { shardNumber } from '#shared/kernel/shard.ts'
import type { Write } from '#shared/table/entity.ts'
import type { Deps } from '../work/work.ts'
import { type PlatformCounter, type PlatformHour, PlatformHourEntity, platformField } from './entity.ts'

export type Added = { [C in PlatformCounter]?: number }

/** Source of the number of shards. Counters are sharded because every event writes to them. */
export type Sharded = { table: Pick<Deps['table'], 'counterShards'> }

const shardOf = ({ table }: Sharded, id: string): number => shardNumber(id, table.counterShards)

/**
 * Returns the write that adds to the platform's counters. Use it at most once per transaction, because two ids may fall
 * on the same shard.
 * @param at time in epoch ms, which selects the quarter of an hour
 * @param id id that selects the shard
 */
export const platformCountWrite = (deps: Sharded, at: number, id: string, added: Added): Write => {
  const quarter = Math.floor((at % HOUR) / (15 * MINUTE))
  const key = { shard: shardOf(deps, id), hour: new Date(at).toISOString().slice(0, 13) }
  const add: Record<string, number> = {}
  for (const [counter, n] of Object.entries(added)) {
    if (n) add[platformField(counter as PlatformCounter, quarter)] = n
  }
  return PlatformHourEntity.upsert(key, { set: key as PlatformHour, add })
}
