import type { Config } from '#infra/config.ts'
import { systemClock } from '#shared/kernel/clock.ts'
import { newId } from '#shared/kernel/ids.ts'
import type { AdminWork } from '#shared/staff/admins/index.ts'
import { createStoreClient } from '#shared/table/client.ts'
import { Table } from '#shared/table/table.ts'

/** Creates the dependencies of the operator’s changes, which use the same writes and the same table as the admin API. */
export function operatorWork(
  { tableName, auditTableName }: { tableName: string; auditTableName?: string },
  {
    directoryShards: shards,
    dueShards,
    counterShards,
    payloadRetentionDays: payloadDays,
  }: Pick<Config, 'directoryShards' | 'dueShards' | 'counterShards' | 'payloadRetentionDays'>,
): AdminWork {
  return operatorWorkOn(
    new Table({
      client: createStoreClient(),
      tableName,
      ...(auditTableName !== undefined && { auditTableName }),
      shards,
      dueShards,
      counterShards,
      payloadDays,
      checkWrites: true,
    }),
  )
}

/** Creates the dependencies of changes to this table. */
export function operatorWorkOn(table: Table): AdminWork {
  return {
    table,
    clock: systemClock,
    requestId: newId('request', systemClock.now()),
    sourceIp: undefined,
    id: (kind) => newId(kind, systemClock.now()),
    commit: (writes) => table.transact(writes),
  }
}
