import { operatorWorkOn } from '#ops/admin/table.ts'
import type { UpgradeOptions } from '#ops/upgrade/run.ts'
import type { TestPlatform } from './platform.ts'

/** Options to run upgrades on a test platform's table, at its time. */
export const upgradeOptions = ({ deps, clock, store, tableName }: TestPlatform): UpgradeOptions => ({
  work: { ...operatorWorkOn(deps.table), clock },
  walk: { client: store.client, tableName, rate: 1_000_000 },
  segments: 3,
  dryRun: false,
  say: () => {},
})
