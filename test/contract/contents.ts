import { ScanCommand } from '@aws-sdk/client-dynamodb'
import { unmarshall } from '@aws-sdk/util-dynamodb'
import { canonicalJson } from '#shared/kernel/canonical-json.ts'
import { TABLE_LAYOUT } from '#shared/table/layout.ts'
import type { TestPlatform } from '#test/support/platform.ts'

/**
 * Not what a request made: how often somebody calls; and in which shard something was counted, which its random id says. That an
 * event was counted once, its `counted-event` tells.
 */
const UNCOUNTED = new Set([
  'list-total',
  'bucket',
  'agent-day',
  'app-day',
  'app-total',
  'platform-hour',
  'platform-now',
])

/** Everything in the table by key, in a form that can be compared. The platform itself never scans. */
export const contents = async ({ store, tableName }: TestPlatform): Promise<Map<string, string>> => {
  const items = new Map<string, string>()
  let start: Record<string, unknown> | undefined
  do {
    const page = await store.client.send(
      new ScanCommand({ TableName: tableName, ...(start && { ExclusiveStartKey: start as never }) }),
    )
    for (const raw of page.Items ?? []) {
      const { pk, sk, ...item } = unmarshall(raw)
      const entity = String(item[TABLE_LAYOUT.entity])
      if (!UNCOUNTED.has(entity)) items.set(`${entity} ${pk} ${sk}`, canonicalJson(item))
    }
    start = page.LastEvaluatedKey
  } while (start)
  return items
}

/** How many items of each entity were added between two looks, and how many of the old ones were changed. */
export const difference = (before: Map<string, string>, after: Map<string, string>): Record<string, number> => {
  const counts: Record<string, number> = {}
  const count = (what: string, key: string) => {
    const name = `${what} ${key.split(' ')[0]}`
    counts[name] = (counts[name] ?? 0) + 1
  }
  for (const [key, item] of after) {
    if (!before.has(key)) count('new', key)
    else if (before.get(key) !== item) count('changed', key)
  }
  for (const key of before.keys()) if (!after.has(key)) count('gone', key)
  return Object.fromEntries(Object.entries(counts).sort())
}
