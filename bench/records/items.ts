import { FeedEntryEntity, FeedHeadEntity } from '#shared/entities/events.ts'
import { RunEntity } from '#shared/entities/runs.ts'
import { DeliveryEntity } from '#shared/entities/webhooks.ts'
import { DAY } from '#shared/kernel/clock.ts'
import type { Write } from '#shared/table/entity.ts'
import { itemOf } from '../lists/fill.ts'
import { busiestRecordsAt } from '../lists/records.ts'
import type { World } from '../lists/world.ts'

/** Of the newest there is all that belongs to them: the events themselves, the workspace’s own lists. */
const NEWEST = 2_000

const KINDS = [RunEntity, FeedEntryEntity, DeliveryEntity] as const
const EVERY = new Set<string>(KINDS.map(({ name }) => name))

/**
 * So many records of one installation, a third each of runs, entries of the feed and deliveries, as the platform would have
 * written them; and what belongs to the newest of them.
 *
 * @param now epoch ms, a millisecond after the newest
 */
export function* manyItems(world: World, records: number, now: number): Generator<Record<string, unknown>> {
  const size = Math.ceil(records / KINDS.length)
  for (let n = 0; n < size; n++) {
    for (const write of busiestRecordsAt(world, n, now - size + n)) {
      if (isKept(write, n, size)) yield itemOf(write.entity === DeliveryEntity ? waiting(write, now) : write)
    }
  }
}

const isKept = ({ entity }: Write, n: number, size: number): boolean => {
  if (EVERY.has(entity.name)) return true
  // One record for all, which the last one has to write.
  return entity.name === FeedHeadEntity.name ? n === size - 1 : n >= size - NEWEST
}

/** Its next attempt is tomorrow: so the index of what is due grows, too, and nothing in it is due. */
const waiting = (write: Write, now: number): Write => ({
  ...write,
  item: { ...write.item, status: 'pending', next_attempt_at: now + DAY, due_at: now + DAY },
})
