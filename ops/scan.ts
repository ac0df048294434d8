import { setTimeout as sleep } from 'node:timers/promises'
import { type AttributeValue, type DynamoDBClient, ScanCommand, type ScanCommandInput } from '@aws-sdk/client-dynamodb'

export type StoredItem = Record<string, AttributeValue>

/** Page of items as stored, with the key after which the next page starts. The last page has none. */
export interface ScanPage {
  items: StoredItem[]
  next: StoredItem | undefined
}

/**
 * Scans a table or one segment of it, with consistent reads and with pauses to stay below the rate. Only operators' commands may scan.
 * No function may.
 *
 * @param rate read units per second; a consistent read takes one per 4 KB
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
