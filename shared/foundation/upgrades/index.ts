export { isUpgradeDone, LEAN_RECORDS, PLAIN_WRITES } from './done.ts'
export { UpgradeEntity, type UpgradeRecord } from './entity.ts'
