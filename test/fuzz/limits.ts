import { BatchWriteItemCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb'
import type { Platform } from '#local/platform.ts'
import { BucketEntity } from '#shared/foundation/limits/entity.ts'

/** Burst of the smallest bucket, reduced to leave room for a retry's requests. */
const EVERY = 8

/** Number of answers by the first digit of their status; `stream` for streamed ones. */
export type Answers = Record<string, number>

/**
 * Intercepts every function of the platform. Refills the rate limits' buckets as fast as requests empty them, so that
 * requests reach the operation and not its limit. Counts the answers to each `User-Agent`.
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
    /** Starts counting and refilling. @param answers counts those to that `User-Agent` */
    watch(name: string, buckets: readonly string[], answers: Answers): void {
      callers.set(name, { buckets, requests: 0, answers })
    },
    /** Refills buckets once. */
    fill,
    close: () => table.destroy(),
  }
}
