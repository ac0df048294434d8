import type { AnyEntity, Entity, Key } from './entity.ts'
import { directoryPartition, listPartition, withoutTableAttributes } from './indexes.ts'
import { TABLE_LAYOUT } from './layout.ts'
import type { Page, QueryOptions, Table } from './table.ts'

/**
 * Reads that few functions use: cross-tenant lists, merged lists and whole partitions. Kept separate from the table, so
 * that other functions don't bundle them.
 */

type Reading = Pick<Table, 'page' | 'load' | 'shards'>

/**
 * Source list: a cross-tenant list (one day of it, if it is split by day), one owner's narrowed list, or keys that the
 * caller knows. A record may be in several sources.
 */
export type ListSource =
  | { directory: string; day?: number }
  | { list: string }
  | { keys: readonly (Key & { sort: string })[] }

type Item = Record<string, unknown>

/** Reads a page of a cross-tenant list, merged from its shards. A list that is split by day is read one day at a time. */
export const listDirectory = async <T extends object, P extends string, S extends string>(
  table: Reading,
  entity: Entity<T, P, S>,
  list: string,
  day: number | undefined,
  options: QueryOptions,
): Promise<Page<T>> => {
  const { sortKey } = TABLE_LAYOUT.indexes.directory
  const pages = await Promise.all(
    Array.from({ length: table.shards }, (_, shard) =>
      table.page('directory', directoryPartition(list, day, shard), undefined, options, entity),
    ),
  )
  const sort = (item: Item): string => String(item[sortKey])
  const merged = pages
    .flatMap((page) => page.items)
    .sort((a, b) => (sort(a) < sort(b) === (options.ascending ?? false) ? -1 : 1))
  const items = merged.slice(0, options.limit)
  const last = items.at(-1)
  const more = merged.length > items.length || pages.some((page) => page.next !== undefined)
  return { items: await table.load(entity, items), next: more && last ? sort(last) : undefined }
}

/**
 * Reads a page that starts `offset` records into one or several merged lists of the same order. Skipped records are read
 * as keys only. The cost grows with the offset, which the caller must bound, not with the size of the lists.
 */
export const pageAtOffset = async <T extends object, P extends string, S extends string>(
  table: Reading,
  entity: Entity<T, P, S>,
  sources: readonly ListSource[],
  { offset, limit, ascending = false }: { offset: number; limit: number; ascending?: boolean },
): Promise<T[]> => {
  const keys = await merge(table, sources, { of: entity, count: offset + limit, ascending })
  return table.load(
    entity,
    keys.slice(offset).map(({ item }) => item),
  )
}

/**
 * Reads a page as {@link pageAtOffset} does and counts the records, up to `ahead` records after the page to bound the cost.
 * @returns `total` is exact unless it equals offset + limit + ahead, in which case there may be more
 */
export const pageAtOffsetWithCount = async <T extends object, P extends string, S extends string>(
  table: Reading,
  entity: Entity<T, P, S>,
  sources: readonly ListSource[],
  { offset, limit, ahead, ...bounds }: Pick<QueryOptions, 'from' | 'to'> & Record<'offset' | 'limit' | 'ahead', number>,
): Promise<{ items: T[]; total: number }> => {
  const keys = await merge(table, sources, {
    of: entity,
    count: offset + limit + ahead,
    ascending: false,
    ...bounds,
  })
  const shown = keys.slice(offset, offset + limit).map(({ item }) => item)
  return { items: await table.load(entity, shown), total: keys.length }
}

/** Reads a page of several merged lists of the same order. Only records on the page are read in full. */
export const mergedPage = async <T extends object, P extends string, S extends string>(
  table: Reading,
  entity: Entity<T, P, S>,
  sources: readonly ListSource[],
  { limit, ascending = false, ...rest }: Pick<QueryOptions, 'limit' | 'after' | 'ascending' | 'from' | 'to'>,
): Promise<Page<T>> => {
  const keys = await merge(table, sources, { of: entity, count: limit + 1, ascending, ...rest })
  const shown = keys.slice(0, limit)
  const items = await table.load(
    entity,
    shown.map(({ item }) => item),
  )
  return { items, next: keys.length > limit ? shown.at(-1)?.sort : undefined }
}

/**
 * Reads the first keys of several merged lists of the same order, newest first. Reads no record in full.
 * @param from lowest sort value to include
 */
export const firstKeys = async (
  table: Reading,
  sources: readonly ListSource[],
  count: number,
  from?: string,
): Promise<{ key: Key; sort: string }[]> => {
  const found = await merge(table, sources, { count, ascending: false, ...(from !== undefined && { from }) })
  return found.map(({ sort, item }) => ({ key: keyOf(item), sort }))
}

/**
 * Reads a page of all items in a partition, of any entity, for code that empties it.
 * @param after sort key to continue after
 */
export const listEverythingIn = async (
  table: Reading,
  partition: string,
  options: Pick<QueryOptions, 'limit' | 'after'>,
): Promise<Page<{ entity: string; key: Key; item: Item }>> => {
  const { items, next } = await table.page('sk', partition, undefined, { ...options, ascending: true })
  return {
    items: items.map((item) => ({
      entity: String(item[TABLE_LAYOUT.entity]),
      key: keyOf(item),
      item: withoutTableAttributes(item),
    })),
    next,
  }
}

/** Reads a page of keys of an owner's narrowed list. */
export const listKeys = async (
  table: Reading,
  owner: string,
  options: Pick<QueryOptions, 'limit' | 'after' | 'to'>,
): Promise<Page<Key>> => {
  const { items, next } = await table.page('list', listPartition(owner), undefined, { ...options, ascending: true })
  return { items: items.map(keyOf), next }
}

const keyOf = ({ pk, sk }: Item): Key => ({ pk: String(pk), sk: String(sk) })

/** Merges the first keys of several lists. */
const merge = async (
  table: Reading,
  sources: readonly ListSource[],
  {
    of,
    count,
    after,
    ascending,
    ...bounds
  }: { of?: AnyEntity; count: number; after?: string | undefined; ascending: boolean } & Pick<
    QueryOptions,
    'from' | 'to'
  >,
): Promise<{ sort: string; item: Item }[]> => {
  const partitions = sources.flatMap((source) => partitionsOf(table, source))
  // Records are spread evenly over shards, so one read of each shard gives almost everything needed.
  const step = Math.min(1_000, Math.ceil(count / Math.max(1, partitions.length)) + 16)
  const known = knownIn(sources, { after, ascending, ...bounds })
  const runs = await Promise.all<Run>(
    partitions.map(async ({ index, partition }) => {
      const { sortKey } = TABLE_LAYOUT.indexes[index]
      const read = async (from?: string) => {
        const options = { ...bounds, limit: step, after: from, ascending }
        const { items, next } = await table.page(index, partition, undefined, options, of)
        return { keys: items.map((item) => ({ sort: String(item[sortKey]), item })), next }
      }
      return { ...(await read(after)), at: 0, read }
    }),
  )
  if (known.length > 0) runs.push({ keys: known, next: undefined, at: 0, read: async () => NO_MORE })
  const found: { sort: string; item: Item }[] = []
  while (found.length < count) {
    for (const run of runs) {
      if (run.at < run.keys.length || run.next === undefined) continue
      Object.assign(run, await run.read(run.next), { at: 0 })
    }
    const [first, ...rest] = runs.filter((run) => run.at < run.keys.length)
    if (!first) break
    const sort = (run: Run) => run.keys[run.at]?.sort ?? ''
    const best = rest.reduce((a, b) => (sort(b) < sort(a) === ascending ? b : a), first)
    const key = best.keys[best.at++]
    const last = found.at(-1)
    if (key && !(last && isSame(last, key))) found.push(key)
  }
  return found
}

interface Sorted {
  sort: string
  item: Item
}

interface ReadKeys {
  keys: Sorted[]
  next: string | undefined
}

/** State of reading one source: the keys read so far, and the place of the next one. */
interface Run extends ReadKeys {
  at: number
  read(from?: string): Promise<ReadKeys>
}

const NO_MORE: ReadKeys = { keys: [], next: undefined }

const isSame = (a: Sorted, b: Sorted): boolean =>
  a.sort === b.sort && a.item.pk === b.item.pk && a.item.sk === b.item.sk

/** Returns the keys that the caller knows, in order and within the bounds. */
const knownIn = (
  sources: readonly ListSource[],
  { after, ascending, from, to }: Pick<QueryOptions, 'after' | 'ascending' | 'from' | 'to'>,
): Sorted[] =>
  sources
    .flatMap((source) => ('keys' in source ? source.keys : []))
    .filter(({ sort }) => (from === undefined || sort >= from) && (to === undefined || sort <= to))
    .filter(({ sort }) => after === undefined || (ascending ? sort > after : sort < after))
    .map(({ sort, pk, sk }) => ({ sort, item: { pk, sk } }))
    .sort((a, b) => (a.sort < b.sort === (ascending ?? false) ? -1 : 1))

const partitionsOf = (
  { shards }: Reading,
  source: ListSource,
): { index: 'directory' | 'list'; partition: string }[] => {
  if ('keys' in source) return []
  if ('list' in source) return [{ index: 'list', partition: listPartition(source.list) }]
  return Array.from({ length: shards }, (_, shard) => ({
    index: 'directory' as const,
    partition: directoryPartition(source.directory, source.day, shard),
  }))
}
