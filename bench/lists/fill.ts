import { BatchWriteCommand, type DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { PAYLOAD_DAYS } from '#shared/kernel/settings.ts'
import type { AnyEntity, Write } from '#shared/table/entity.ts'
import { itemAttributes } from '#shared/table/indexes.ts'

/** As many as one BatchWriteItem takes. */
const TOGETHER = 25
/** Batches on their way at the same time. */
const AT_ONCE = 4
/** As the platform under test has them. */
export const SHARDS = 2

export interface Filling {
  client: DynamoDBDocumentClient
  tableName: string
}

/** The whole item that a put writes, with its places in the indexes. */
export const itemOf = ({ entity, key, item = {} }: Write): Record<string, unknown> => ({
  ...item,
  ...itemAttributes(entity, key, item, { shards: SHARDS, payloadDays: PAYLOAD_DAYS }),
})

/** Puts records past the platform, in batches and without conditions: a hundred thousand in minutes. */
export const putAll = async ({ client, tableName }: Filling, writes: Iterable<Write>): Promise<void> => {
  const batches = batchesOf(writes)
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const items of batches) {
        const { UnprocessedItems = {} } = await client.send(
          new BatchWriteCommand({ RequestItems: { [tableName]: items.map((Item) => ({ PutRequest: { Item } })) } }),
        )
        if (Object.keys(UnprocessedItems).length > 0) throw new Error('The store took only a part of a batch')
      }
    }),
  )
}

function* batchesOf(writes: Iterable<Write>): Generator<Record<string, unknown>[]> {
  // By key: a batch may have each only once, and the last one counts.
  let batch = new Map<string, Record<string, unknown>>()
  const checked = new Set<AnyEntity>()
  for (const write of writes) {
    const { entity, key, item } = write
    // All records of an entity are alike.
    if (!checked.has(entity)) entity.schema().parse(item)
    checked.add(entity)
    batch.set(`${key.pk}\n${key.sk}`, itemOf(write))
    if (batch.size < TOGETHER) continue
    yield [...batch.values()]
    batch = new Map()
  }
  if (batch.size > 0) yield [...batch.values()]
}
