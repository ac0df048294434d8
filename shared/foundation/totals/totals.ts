import { shardNumber } from '#shared/kernel/shard.ts'
import type { Write } from '#shared/table/entity.ts'
import type { Deps } from '../work/work.ts'
import { ListTotalEntity, TOTAL_SHARDS } from './entity.ts'

/**
 * Sizes of cross-tenant lists. They are exact under concurrent writes and read in one query. Each change of a list
 * writes its total in the same transaction.
 */

/** Returns the write that counts a record in or out of a list. @param id the record's id, which selects the shard */
export const totalWrite = (list: string, id: string, by: 1 | -1): Write => {
  const shard = shardNumber(id, TOTAL_SHARDS)
  return ListTotalEntity.upsert({ list, shard }, { set: { list, shard }, add: { n: by } })
}

/** Returns the writes that move a record from one list's total to another's. */
export const totalMoveWrites = (from: string, to: string, id: string): Write[] =>
  from === to ? [] : [totalWrite(from, id, -1), totalWrite(to, id, 1)]

/** Returns the number of records in all of the lists. */
export const readTotal = async ({ table }: Pick<Deps, 'table'>, lists: readonly string[]): Promise<number> => {
  const pages = await Promise.all(lists.map((list) => table.query(ListTotalEntity, { list }, { limit: TOTAL_SHARDS })))
  return pages.flatMap(({ items }) => items).reduce((sum, { n }) => sum + n, 0)
}
