import { BatchWriteItemCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb'
import type { Platform } from '#local/platform.ts'
import { BucketEntity } from '#shared/entities/platform.ts'

/** Requests that the smallest bucket lets through at once, with room for those of a retry. */
const EVERY = 8

/** Answers by the first digit of their status; `stream` where they came as one. */
export type Answers = Record<string, number>

/**
 * Stands before every function of the platform: fills the rate limits' buckets up as fast as they are emptied, so that what
 * is sent meets the operation and not its limit, and counts the answers of each `User-Agent`.
 */
export const watchRequests = (platform: Platform) => {
  const { endpoints, client, tableName } = platform
  const table = new DynamoDBClient({ ...client, endpoint: endpoints.dynamodb })
  const callers = new Map<string, { buckets: readonly string[]; requests: number; answers: Answers }>()
  const fill = (buckets: readonly string[]) =>
    table.send(
      new BatchWriteItemCommand({
        RequestItems: {
          [tableName]: buckets.map((name) => {
            const { pk, sk } = BucketEntity.key({ name })
            return { DeleteRequest: { Key: { pk: { S: pk }, sk: { S: sk } } } }
          }),
        },
      }),
    )
  for (const { name } of platform.model.functions) {
    platform.intercept(name, async (event, next) => {
      const { headers } = event as { headers?: Record<string, string> }
      const caller = callers.get(headers?.['User-Agent'] ?? '')
      if (!caller) return next(event)
      if (caller.requests++ % EVERY === 0) await fill(caller.buckets)
      const result = await next(event)
      const { statusCode = 500 } = (result.kind === 'value' ? result.value : {}) as { statusCode?: number }
      const kind = result.kind === 'stream' ? 'stream' : `${Math.floor(statusCode / 100)}xx`
      caller.answers[kind] = (caller.answers[kind] ?? 0) + 1
      return result
    })
  }
  return {
    /** From now on. @param answers counts those to that `User-Agent` */
    watch(name: string, buckets: readonly string[], answers: Answers): void {
      callers.set(name, { buckets, requests: 0, answers })
    },
    /** Fills buckets up once. */
    fill,
    close: () => table.destroy(),
  }
}
