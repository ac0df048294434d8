import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { runUpgrades } from '#infra/upgrade/run.ts'
import { UPGRADES } from '#infra/upgrade/upgrades.ts'
import { systemClock } from '#shared/kernel/clock.ts'
import { createStoreClient } from '#shared/table/client.ts'
import { Table } from '#shared/table/table.ts'
import type { Platform } from './platform/types.ts'

/** What `npm run upgrade` does for a deployed stage: data that an older version left behind get the shape of this one. */
export const upgradeData = async (
  { endpoints, client: { region, credentials }, tableName, model }: Platform,
  say: (line: string) => void,
): Promise<void> => {
  const where = { region, credentials, endpoint: endpoints.dynamodb }
  const shards = Number(model.functions[0]?.environment.DIRECTORY_SHARDS)
  const table = new Table({ client: createStoreClient(where), tableName, shards })
  const work = { table, clock: systemClock }
  const client = new DynamoDBClient(where)
  const walk = { client, tableName, rate: Number.POSITIVE_INFINITY }
  await runUpgrades(UPGRADES, { work, walk, segments: 1, dryRun: false, say })
  client.destroy()
}
