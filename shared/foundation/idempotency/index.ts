export { type IdempotencyRecord, IdempotencyRecordEntity } from './entity.ts'
