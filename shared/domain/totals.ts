import { createHash } from 'node:crypto'
import { ListTotalEntity, TOTAL_SHARDS } from '../entities/totals.ts'
import type { Write } from '../table/entity.ts'
import type { Deps } from './deps.ts'

/**
 * How many records a cross-tenant list has: exact, whoever writes at once, and read in one query, however many there are.
 * What adds a record to a list, moves it or takes it out writes this in the same transaction.
 */

/** A record comes into a list, or goes out of it. @param id the record's, which is always counted in the same shard */
export const counted = (list: string, id: string, by: 1 | -1): Write => {
  const shard = createHash('sha256').update(id).digest().readUInt32BE(0) % TOTAL_SHARDS
  return ListTotalEntity.upsert({ list, shard }, { set: { list, shard }, add: { n: by } })
}

/** A record moves from one list to another. */
export const movedBetween = (from: string, to: string, id: string): Write[] =>
  from === to ? [] : [counted(from, id, -1), counted(to, id, 1)]

/** Records in all of the lists together. */
export const totalOf = async ({ table }: Pick<Deps, 'table'>, lists: readonly string[]): Promise<number> => {
  const pages = await Promise.all(lists.map((list) => table.query(ListTotalEntity, { list }, { limit: TOTAL_SHARDS })))
  return pages.flatMap(({ items }) => items).reduce((sum, { n }) => sum + n, 0)
}
