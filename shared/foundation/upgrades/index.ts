export { isDoneBy, recordBirth } from './done.ts'
export { BirthEntity, UpgradeEntity, type UpgradeRecord } from './entity.ts'
