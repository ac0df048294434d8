import { UpgradeEntity } from '#shared/foundation/upgrades/index.ts'
import type { Table } from '#shared/table/table.ts'

/** Records an upgrade as done, as on a stage whose operator ran it. @param at epoch ms */
export const finishUpgrade = ({ table }: { table: Table }, id: string, at = 0): Promise<void> =>
  table.transact([
    UpgradeEntity.replace({ id, state: 'done', segments: [], seen: 0, changed: 0, started_at: at, finished_at: at }),
  ])
