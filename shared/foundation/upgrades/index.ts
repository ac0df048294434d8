export { UpgradeEntity, type UpgradeRecord } from './entity.ts'
