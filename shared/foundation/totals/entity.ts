import * as z from 'zod'
import { defineEntity } from '#shared/table/entity.ts'

/** Items per total, so that concurrent writers don't all hit the same one. Never lower it. */
export const TOTAL_SHARDS = 4

const listTotal = () => z.object({ list: z.string(), shard: z.number(), n: z.number() })

/** One shard of the size of a cross-tenant list, updated in the transaction that adds, moves or removes a record. */
export const ListTotalEntity = defineEntity({
  name: 'list-total',
  schema: listTotal,
  pk: 'TOTAL#{list}',
  sk: 'SHARD#{shard}',
  personal: 'none',
  retention: { workspace: 'kept', person: 'kept', app: 'kept' },
})
