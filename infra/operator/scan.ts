import { setTimeout as sleep } from 'node:timers/promises'
import { type AttributeValue, type DynamoDBClient, ScanCommand, type ScanCommandInput } from '@aws-sdk/client-dynamodb'

export type StoredItem = Record<string, AttributeValue>

/** A page of items as they are stored, with the key that the next page goes on after; none on the last one. */
export interface ScanPage {
  items: StoredItem[]
  next: StoredItem | undefined
}

/**
 * Every item of a table, or of the part of it that the input says. Only commands of the operator's may look at a whole table, no
 * function may: consistent reads, with pauses so that they stay below a rate.
 *
 * @param rate read units a second; a consistent read takes one for 4 KB
 */
export async function* scan(
  client: DynamoDBClient,
  input: Omit<ScanCommandInput, 'ConsistentRead' | 'ReturnConsumedCapacity'>,
  rate: number,
): AsyncGenerator<ScanPage> {
  let start = input.ExclusiveStartKey
  do {
    const page = await client.send(
      new ScanCommand({
        ...input,
        ConsistentRead: true,
        ReturnConsumedCapacity: 'TOTAL',
        ...(start && { ExclusiveStartKey: start }),
      }),
    )
    start = page.LastEvaluatedKey
    yield { items: page.Items ?? [], next: start }
    if (start) await sleep(((page.ConsumedCapacity?.CapacityUnits ?? 0) * 1_000) / rate)
  } while (start)
}
