export { listAudit } from './list.ts'
export { listPlatformAudit } from './list-platform.ts'
export {
  loadNamesForAdmins,
  PlatformAuditEntrySchema,
  platformAuditFilters,
  presentPlatformEntry,
} from './platform-schemas.ts'
export { AuditEntrySchema, auditFilters, presentEntry } from './schemas.ts'
