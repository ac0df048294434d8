import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { operatorWorkOn } from '#ops/admin/table.ts'
import { runUpgrades } from '#ops/upgrade/run.ts'
import { UPGRADES } from '#ops/upgrade/upgrades.ts'
import { createStoreClient } from '#shared/table/client.ts'
import { Table } from '#shared/table/table.ts'
import type { Platform } from './platform/types.ts'

/** The parts of a {@link Platform} that the upgrade uses. */
interface Upgraded extends Pick<Platform, 'client' | 'tableName'> {
  endpoints: Pick<Platform['endpoints'], 'dynamodb'>
  model: { functions: readonly { environment: Readonly<Record<string, string>> }[] }
}

/**
 * Migrates data of an older version, as `npm run upgrade` does for a deployed stage. Prints nothing if there is no such
 * data.
 */
export const upgradeData = async (
  { endpoints, client: { region, credentials }, tableName, model }: Upgraded,
  say: (line: string) => void,
): Promise<void> => {
  const where = { region, credentials, endpoint: endpoints.dynamodb }
  const { AUDIT_TABLE_NAME, DIRECTORY_SHARDS, DUE_SHARDS, COUNTER_SHARDS, PAYLOAD_RETENTION_DAYS } =
    model.functions[0]?.environment ?? {}
  const table = new Table({
    client: createStoreClient(where),
    tableName,
    auditTableName: AUDIT_TABLE_NAME,
    shards: Number(DIRECTORY_SHARDS),
    dueShards: DUE_SHARDS === undefined ? undefined : Number(DUE_SHARDS),
    counterShards: COUNTER_SHARDS === undefined ? undefined : Number(COUNTER_SHARDS),
    payloadDays: Number(PAYLOAD_RETENTION_DAYS),
  })
  const client = new DynamoDBClient(where)
  const walk = { client, tableName, rate: Number.POSITIVE_INFINITY }
  const done = await runUpgrades(UPGRADES, {
    work: operatorWorkOn(table),
    walk,
    segments: 1,
    dryRun: false,
    say: () => {},
  })
  client.destroy()
  for (const { id, changed } of done) if (changed > 0) say(`upgrade ${id}: ${changed} records changed`)
}
