export { COUNTED_AT_END, isUpgradeDone, LEAN_RECORDS, PLAIN_WRITES, timeOfUpgrade } from './done.ts'
export { UpgradeEntity, type UpgradeRecord } from './entity.ts'
