import { utcDate } from '../kernel/clock.ts'
import { shardNumber } from '../kernel/shard.ts'
import type { AnyEntity, Key, Retention } from './entity.ts'
import { TABLE_LAYOUT } from './layout.ts'

const { due, directory, list } = TABLE_LAYOUT.indexes

export const duePartition = (shard: number): string => `DUE#${shard}`
export const directoryPartition = (name: string, day: number | undefined, shard: number): string =>
  `DIR#${name}#${day === undefined ? '' : utcDate(day)}#${shard}`
export const listPartition = (owner: string): string => `LIST#${owner}`

/** Returns the overdue index's attributes for a time. Undefined values remove the item from the index. */
export const dueAttributes = (
  entity: AnyEntity,
  key: Key,
  dueAt: number | undefined,
  shards: number,
): Record<string, unknown> =>
  dueAt === undefined
    ? { [due.partitionKey]: undefined, [due.sortKey]: undefined }
    : {
        [due.partitionKey]: duePartition(shardNumber(key.pk + key.sk, shards)),
        [due.sortKey]: `${String(dueAt).padStart(13, '0')}#${entity.name}`,
      }

/** Returns the attribute by which the store deletes an item, or nothing if these fields don't say when. */
export const expiryAttribute = (entity: AnyEntity, fields: Record<string, unknown>, by: Retention) => {
  const expires = entity.expires?.(fields, by)
  return expires === undefined || Number.isNaN(expires) ? {} : { [TABLE_LAYOUT.ttl]: Math.ceil(expires / 1_000) }
}

/** Returns all index and bookkeeping attributes of an item. */
export const itemAttributes = (
  entity: AnyEntity,
  key: Key,
  item: Record<string, unknown>,
  by: { shards: number; dueShards: number } & Retention,
) => {
  const attributes: Record<string, unknown> = {
    ...key,
    [TABLE_LAYOUT.entity]: entity.name,
    ...expiryAttribute(entity, item, by),
  }
  if (entity.due && typeof item.due_at === 'number') {
    Object.assign(attributes, dueAttributes(entity, key, item.due_at, by.dueShards))
  }
  const place = entity.directory?.(item)
  if (place) {
    attributes[directory.partitionKey] = directoryPartition(place.list, place.day, shardNumber(place.sort, by.shards))
    attributes[directory.sortKey] = place.sort
  }
  const listed = entity.list?.(item)
  if (listed) {
    attributes[list.partitionKey] = listPartition(listed.owner)
    attributes[list.sortKey] = listed.sort
  }
  return attributes
}

/** Returns the narrowed list's attributes for the item's new place. Null removes it from the list. */
export const listAttributes = (listed: { owner: string; sort: string } | null): Record<string, unknown> => ({
  [list.partitionKey]: listed ? listPartition(listed.owner) : undefined,
  [list.sortKey]: listed?.sort,
})

const STORED = new Set<string>([
  TABLE_LAYOUT.partitionKey,
  TABLE_LAYOUT.sortKey,
  TABLE_LAYOUT.ttl,
  TABLE_LAYOUT.entity,
  ...Object.values(TABLE_LAYOUT.indexes).flatMap((index) => [index.partitionKey, index.sortKey]),
])

/** Returns an item without the table's own attributes. A plain loop, because it runs for every item that is read. */
export const withoutTableAttributes = (item: Record<string, unknown>): Record<string, unknown> => {
  const kept: Record<string, unknown> = {}
  for (const name of Object.keys(item)) if (!STORED.has(name)) kept[name] = item[name]
  return kept
}
