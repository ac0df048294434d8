import { ScanCommand } from '@aws-sdk/client-dynamodb'
import { unmarshall } from '@aws-sdk/util-dynamodb'
import { ROUND, removeWhatIsDue } from '#shared/domain/removal/due.ts'
import { TABLE_LAYOUT } from '#shared/table/layout.ts'
import { workOf } from '#test/functions/people/support.ts'
import type { TestPlatform } from '#test/support/platform.ts'

/** Every item of the table. The platform itself never scans. */
export const everything = async ({ store, tableName }: TestPlatform): Promise<Record<string, unknown>[]> => {
  const items: Record<string, unknown>[] = []
  let start: Record<string, unknown> | undefined
  do {
    const page = await store.client.send(
      new ScanCommand({ TableName: tableName, ...(start && { ExclusiveStartKey: start as never }) }),
    )
    items.push(...(page.Items ?? []).map((item) => unmarshall(item)))
    start = page.LastEvaluatedKey
  } while (start)
  return items
}

export const entityOf = (item: Record<string, unknown>): string => String(item[TABLE_LAYOUT.entity])

/** One round of the worker. */
export const round = (platform: TestPlatform, limits: Partial<typeof ROUND> = {}): Promise<void> =>
  removeWhatIsDue(workOf(platform), { ...ROUND, ...limits })

/** The first rounds after the grace, the last of which no upload can come any more. */
export const afterGrace = async (
  platform: TestPlatform,
  limits: Partial<typeof ROUND> = {},
  rounds = 3,
): Promise<void> => {
  platform.clock.advance(14 * 86_400_000)
  for (let n = 0; n < rounds; n++) {
    await round(platform, limits)
    await platform.drain()
    platform.clock.advance(40 * 60_000)
    await platform.sweep()
    await platform.drain()
  }
}
