export { type AuditAction, PLATFORM_ACTIONS, WORKSPACE_ACTIONS } from './actions.ts'
export { ANCHOR_PREFIX, anchorDays } from './anchor.ts'
export {
  AuditDayEntity,
  AuditEntity,
  type AuditEntry,
  AuditIntakeEntity,
  auditMonth,
  auditOf,
} from './entity.ts'
export { recordEntries, recordLeftovers } from './record.ts'
export { type Verification, verifyAudit } from './verify.ts'
export { auditAdmin, auditDeveloper, auditEntry, auditPerson } from './write.ts'
