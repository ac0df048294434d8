import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb'
import type { AnyEntity, ItemOf, Key } from '#shared/table/entity.ts'
import { bare } from '#shared/table/indexes.ts'
import { TABLE_LAYOUT } from '#shared/table/layout.ts'
import { scan } from '../operator/scan.ts'

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

/** Every record of one kind in one segment of the table. All segments together stay below the rate. */
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
      found: found.map((item) => ({ key: keyOf(item), item: bare(item) as ItemOf<E> })),
      next: next && (unmarshall(next) as Key),
    }
  }
}

const keyOf = ({ pk, sk }: Record<string, unknown>): Key => ({ pk: String(pk), sk: String(sk) })
