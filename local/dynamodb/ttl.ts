import type { TableModel } from '../template/model.ts'
import { type DynamodbCall, DynamodbError } from './client.ts'

type Item = Record<string, unknown>

/**
 * Pages per round, so that a round over a million items doesn't block the table. The next round continues where this
 * one ended.
 */
const PAGES_PER_ROUND = 20
const PAGE = 1_000
const EVERY_MS = 60_000

/** Deletes expired items. */
export interface TtlSweeper {
  /**
   * Runs one round.
   * @returns the number of deleted items
   */
  sweep(nowMs?: number): Promise<number>
  stop(): void
}

/**
 * Deletes expired items some time after their expiry, as DynamoDB's TTL does and dynoxide does not. Nothing may depend
 * on how soon.
 */
export const createTtlSweeper = (
  call: DynamodbCall,
  table: TableModel,
  onError: (error: unknown) => void,
): TtlSweeper => {
  const keys = (table.properties.KeySchema as { AttributeName: string }[]).map((key) => key.AttributeName)
  const attribute = table.ttlAttribute ?? 'ttl'
  let cursor: Item | undefined

  const remove = async (item: Item, now: string): Promise<number> => {
    try {
      await call('DynamoDB_20120810.DeleteItem', {
        TableName: table.name,
        Key: Object.fromEntries(keys.map((key) => [key, item[key]])),
        // The item's expiry may have been extended since it was read.
        ConditionExpression: '#ttl < :now',
        ExpressionAttributeNames: { '#ttl': attribute },
        ExpressionAttributeValues: { ':now': { N: now } },
      })
      return 1
    } catch (error) {
      if (error instanceof DynamodbError && error.code === 'ConditionalCheckFailedException') return 0
      throw error
    }
  }

  const sweep = async (nowMs = Date.now()): Promise<number> => {
    const now = String(Math.floor(nowMs / 1_000))
    let deleted = 0
    for (let page = 0; page < PAGES_PER_ROUND; page += 1) {
      const names = Object.fromEntries(keys.map((key, i) => [`#k${i}`, key]))
      const answer = await call<{ Items?: Item[]; LastEvaluatedKey?: Item }>('DynamoDB_20120810.Scan', {
        TableName: table.name,
        Limit: PAGE,
        FilterExpression: '#ttl < :now',
        ProjectionExpression: Object.keys(names).join(', '),
        ExpressionAttributeNames: { '#ttl': attribute, ...names },
        ExpressionAttributeValues: { ':now': { N: now } },
        ...(cursor && { ExclusiveStartKey: cursor }),
      })
      for (const item of answer.Items ?? []) deleted += await remove(item, now)
      cursor = answer.LastEvaluatedKey
      if (!cursor) break
    }
    return deleted
  }

  const timer = table.ttlAttribute ? setInterval(() => sweep().catch(onError), EVERY_MS) : undefined
  timer?.unref()
  return { sweep, stop: () => clearInterval(timer) }
}
