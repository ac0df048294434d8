import { FeedEntryEntity, FeedHeadEntity } from '#shared/delivery/feed/entity.ts'
import { DeliveryEntity } from '#shared/delivery/webhooks/entity.ts'
import { DAY } from '#shared/kernel/clock.ts'
import type { Write } from '#shared/table/entity.ts'
import { RunEntity } from '#shared/work/runs/entity.ts'
import { itemOf } from '../lists/fill.ts'
import { busiestRecordsAt } from '../lists/records.ts'
import type { World } from '../lists/world.ts'

/** Number of newest records that are complete, with their events and entries in the workspace’s lists. */
const NEWEST = 2_000

const KINDS = [RunEntity, FeedEntryEntity, DeliveryEntity] as const
const EVERY = new Set<string>(KINDS.map(({ name }) => name))

/**
 * Generates records of one installation as the platform would write them, a third each of runs, feed entries and deliveries. The
 * newest ones are complete.
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
  // One record for all, which the last entry has to write.
  return entity.name === FeedHeadEntity.name ? n === size - 1 : n >= size - NEWEST
}

/** Sets a delivery's next attempt to tomorrow, so that the due index grows but nothing in it is due. */
const waiting = (write: Write, now: number): Write => ({
  ...write,
  item: { ...write.item, status: 'pending', next_attempt_at: now + DAY, due_at: now + DAY },
})
