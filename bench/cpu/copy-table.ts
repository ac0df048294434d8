import { type AttributeValue, BatchWriteItemCommand, type DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb'

/** Copies every item of a table into an empty one. */
export const copyTable = async (client: DynamoDBClient, from: string, to: string): Promise<void> => {
  let start: Record<string, AttributeValue> | undefined
  do {
    const page = await client.send(new ScanCommand({ TableName: from, ...(start && { ExclusiveStartKey: start }) }))
    const items = page.Items ?? []
    for (let i = 0; i < items.length; i += 25) {
      const requests = items.slice(i, i + 25).map((Item) => ({ PutRequest: { Item } }))
      await client.send(new BatchWriteItemCommand({ RequestItems: { [to]: requests } }))
    }
    start = page.LastEvaluatedKey
  } while (start)
}
