import { BatchWriteCommand, type DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { FUNCTION_SETTINGS } from '#shared/kernel/settings/declared.ts'
import type { AnyEntity, Write } from '#shared/table/entity.ts'
import { itemAttributes } from '#shared/table/indexes.ts'

/** Maximum number of items in a BatchWriteItem. */
const TOGETHER = 25
/** Number of parallel batches. */
const AT_ONCE = 4
/** Number of shards of the platform under test. */
export const SHARDS = 2

export interface Filling {
  client: DynamoDBDocumentClient
  tableName: string
  auditTableName: string
}

/** Returns the whole item that a put writes, with its index attributes. */
export const itemOf = ({ entity, key, item = {} }: Write): Record<string, unknown> => ({
  ...item,
  ...itemAttributes(entity, key, item, {
    shards: SHARDS,
    dueShards: SHARDS,
    payloadDays: FUNCTION_SETTINGS.payloadRetentionDays.default,
  }),
})

/** Writes records directly into the table, in batches and without conditions: a hundred thousand in minutes. */
export const putAll = async (
  { client, tableName, auditTableName }: Filling,
  writes: AsyncIterable<Write>,
): Promise<void> => {
  const batches = batchesOf(writes)
  const nameOf = (write: Write) => (write.entity.table === 'audit' ? auditTableName : tableName)
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for await (const batch of batches) {
        const requests = [...Map.groupBy(batch, nameOf)].map(([name, own]) => [
          name,
          own.map((write) => ({ PutRequest: { Item: itemOf(write) } })),
        ])
        const { UnprocessedItems = {} } = await client.send(
          new BatchWriteCommand({ RequestItems: Object.fromEntries(requests) }),
        )
        if (Object.keys(UnprocessedItems).length > 0) throw new Error('The store took only a part of a batch')
      }
    }),
  )
}

async function* batchesOf(writes: AsyncIterable<Write>): AsyncGenerator<Write[]> {
  // By key: a batch may contain each key only once, and the last item counts.
  let batch = new Map<string, Write>()
  const checked = new Set<AnyEntity>()
  for await (const write of writes) {
    const { entity, key, item } = write
    // All records of an entity have the same shape, so one check is enough.
    if (!checked.has(entity)) entity.schema().parse(item)
    checked.add(entity)
    batch.set(`${key.pk}\n${key.sk}`, write)
    if (batch.size < TOGETHER) continue
    yield [...batch.values()]
    batch = new Map()
  }
  if (batch.size > 0) yield [...batch.values()]
}
