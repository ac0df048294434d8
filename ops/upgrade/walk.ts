import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb'
import type { AnyEntity, ItemOf, Key } from '#shared/table/entity.ts'
import { withoutTableAttributes } from '#shared/table/indexes.ts'
import { TABLE_LAYOUT } from '#shared/table/layout.ts'
import { scan } from '../scan.ts'

/** Part of the table to walk, and its rate. */
export interface Walk {
  client: DynamoDBClient
  tableName: string
  /** Read units per second over all segments. Consistent reads take one per 4 KB. */
  rate: number
}

export interface Segment<E extends AnyEntity> {
  entity: E
  segment: number
  segments: number
  /** Key after which to continue. */
  after: Key | undefined
}

/** Page of records, with the key after which the next page starts. The last page has none. */
export interface WalkPage<E extends AnyEntity> {
  found: { key: Key; item: ItemOf<E> }[]
  next: Key | undefined
}

/** Reads all records of one kind in one segment of the table. All segments together stay below the rate. */
export async function* walk<E extends AnyEntity>(
  { client, tableName, rate }: Walk,
  { entity, segment, segments, after }: Segment<E>,
): AsyncGenerator<WalkPage<E>> {
  const input = {
    TableName: tableName,
    Segment: segment,
    TotalSegments: segments,
    FilterExpression: '#entity = :entity',
    ExpressionAttributeNames: { '#entity': TABLE_LAYOUT.entity },
    ExpressionAttributeValues: { ':entity': { S: entity.name } },
    ...(after && { ExclusiveStartKey: marshall(after) }),
  }
  for await (const { items, next } of scan(client, input, rate / segments)) {
    const found = items.map((item) => unmarshall(item))
    yield {
      found: found.map((item) => ({ key: keyOf(item), item: withoutTableAttributes(item) as ItemOf<E> })),
      next: next && (unmarshall(next) as Key),
    }
  }
}

const keyOf = ({ pk, sk }: Record<string, unknown>): Key => ({ pk: String(pk), sk: String(sk) })
