import * as z from 'zod'
import { defineEntity } from '../table/entity.ts'

/** Totals are spread over so many items, so that those who write at once do not all meet at one. Never lowered. */
export const TOTAL_SHARDS = 4

const listTotal = () => z.object({ list: z.string(), shard: z.number(), n: z.number() })

/** One shard of how many records a cross-tenant list has; moved in the transaction that adds, moves or removes one. */
export const ListTotalEntity = defineEntity<z.infer<ReturnType<typeof listTotal>>>()({
  name: 'list-total',
  schema: listTotal,
  pk: 'TOTAL#{list}',
  sk: 'SHARD#{shard}',
})
