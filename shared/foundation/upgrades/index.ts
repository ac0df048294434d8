export { isUpgradeDone, LEAN_RECORDS } from './done.ts'
export { UpgradeEntity, type UpgradeRecord } from './entity.ts'
