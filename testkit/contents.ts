import { ScanCommand } from '@aws-sdk/client-dynamodb'
import { unmarshall } from '@aws-sdk/util-dynamodb'
import { FeedEntryEntity } from '#shared/delivery/feed/entity.ts'
import { canonicalJson } from '#shared/kernel/canonical-json.ts'
import { TABLE_LAYOUT } from '#shared/table/layout.ts'
import type { TestPlatform } from './platform.ts'

/**
 * Entities that aren't results of a request: rate limits, sharded counters, whose shard depends on a random id, and the state of the
 * audit's recorder and of the table. `counted-event` shows that an event was counted once.
 */
const UNCOUNTED = new Set([
  'birth',
  'audit-day',
  'audit-unanchored',
  'list-total',
  'bucket',
  'agent-day',
  'person-day',
  'app-day',
  'app-total',
  'platform-hour',
  'platform-now',
  'active-runs',
])

/** Reads both tables by key, in a comparable form. The platform itself never scans. */
export const contents = async (platform: TestPlatform): Promise<Map<string, string>> => {
  const items = new Map<string, string>()
  for (const { pk, sk, ...item } of await scanTables(platform)) {
    const entity = String(item[TABLE_LAYOUT.entity])
    if (UNCOUNTED.has(entity)) continue
    if (entity === FeedEntryEntity.name) for (const [key, event] of feedEvents(pk, item)) items.set(key, event)
    else items.set(`${entity} ${pk} ${sk}`, canonicalJson(item))
  }
  return items
}

/** Returns the events of an entry of a feed. Which of them share an entry depends on when they come. */
const feedEvents = (pk: unknown, item: Record<string, unknown>): [string, string][] =>
  [item, ...((item.more as Record<string, unknown>[] | undefined) ?? [])].map(({ event_id, type }) => [
    `${FeedEntryEntity.name} ${pk} ${event_id}`,
    String(type),
  ])

/** Reads every item of the platform's table and of the audit's. */
export const scanTables = async ({
  store,
  tableName,
  auditTableName,
}: Pick<TestPlatform, 'store' | 'tableName' | 'auditTableName'>): Promise<Record<string, unknown>[]> => {
  const items: Record<string, unknown>[] = []
  for (const TableName of [tableName, auditTableName]) {
    let start: Record<string, unknown> | undefined
    do {
      const page = await store.client.send(
        new ScanCommand({ TableName, ...(start && { ExclusiveStartKey: start as never }) }),
      )
      items.push(...(page.Items ?? []).map((item) => unmarshall(item)))
      start = page.LastEvaluatedKey
    } while (start)
  }
  return items
}

/** Counts the items of each entity that were added or changed between two snapshots. */
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
