import type { StaffWork } from '#shared/domain/admins/actor.ts'
import { systemClock } from '#shared/kernel/clock.ts'
import { newId } from '#shared/kernel/ids.ts'
import { createStoreClient } from '#shared/table/client.ts'
import { Table } from '#shared/table/table.ts'
import type { Config } from '../config.ts'

/** What the operator’s changes are made with: the same writes as the admin API’s, to the same table. */
export function operatorWork(
  tableName: string,
  {
    directoryShards: shards,
    payloadRetentionDays: payloadDays,
  }: Pick<Config, 'directoryShards' | 'payloadRetentionDays'>,
): StaffWork {
  const table = new Table({ client: createStoreClient(), tableName, shards, payloadDays, checkWrites: true })
  return {
    table,
    clock: systemClock,
    requestId: newId('request', systemClock.now()),
    sourceIp: undefined,
    id: (kind) => newId(kind, systemClock.now()),
    commit: (writes) => table.transact(writes),
  }
}
