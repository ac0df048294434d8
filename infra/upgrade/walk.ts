import { setTimeout as sleep } from 'node:timers/promises'
import { type DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb'
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb'
import type { AnyEntity, ItemOf, Key } from '#shared/table/entity.ts'
import { bare } from '#shared/table/indexes.ts'
import { TABLE_LAYOUT } from '#shared/table/layout.ts'

/** Where to walk. */
export interface Walk {
  client: DynamoDBClient
  tableName: string
  /** Read units a second, over all segments; consistent reads take one for 4 KB. */
  rate: number
}

export interface Segment<E extends AnyEntity> {
  entity: E
  segment: number
  segments: number
  /** Goes on after this one. */
  after: Key | undefined
}

/** A page of records, with the key that the next page goes on after; none on the last one. */
export interface WalkPage<E extends AnyEntity> {
  found: { key: Key; item: ItemOf<E> }[]
  next: Key | undefined
}

/**
 * Every record of one kind in one segment of the table. The only reader that looks at the whole table: it is the operator's, no
 * function may do it. It waits so that its reads stay below the rate.
 */
export async function* walk<E extends AnyEntity>(
  { client, tableName, rate }: Walk,
  { entity, segment, segments, after }: Segment<E>,
): AsyncGenerator<WalkPage<E>> {
  let start = after
  do {
    const page = await client.send(
      new ScanCommand({
        TableName: tableName,
        Segment: segment,
        TotalSegments: segments,
        ConsistentRead: true,
        ReturnConsumedCapacity: 'TOTAL',
        FilterExpression: '#entity = :entity',
        ExpressionAttributeNames: { '#entity': TABLE_LAYOUT.entity },
        ExpressionAttributeValues: { ':entity': { S: entity.name } },
        ...(start && { ExclusiveStartKey: marshall(start) }),
      }),
    )
    const items = (page.Items ?? []).map((item) => unmarshall(item))
    start = page.LastEvaluatedKey && (unmarshall(page.LastEvaluatedKey) as Key)
    yield { found: items.map((item) => ({ key: keyOf(item), item: bare(item) as ItemOf<E> })), next: start }
    const units = page.ConsumedCapacity?.CapacityUnits ?? 0
    if (start) await sleep((units * segments * 1_000) / rate)
  } while (start)
}

const keyOf = ({ pk, sk }: Record<string, unknown>): Key => ({ pk: String(pk), sk: String(sk) })
