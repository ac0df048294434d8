import { AuditDayEntity, AuditEntity, EarlierAuditDayEntity, EarlierAuditEntity } from '#shared/staff/audit/index.ts'
import type { Upgrade } from './upgrade.ts'

/**
 * Copies entries into the audit's own table, with their places in the chain. The originals stay until they expire: they are
 * append-only, too.
 */
export const copyAudit: Upgrade<typeof EarlierAuditEntity> = {
  id: '0008-audit-table',
  title: 'copies the audit into its own table',
  entity: EarlierAuditEntity,
  writes: async (entry, { table }) => ((await table.get(AuditEntity, entry)) ? [] : [AuditEntity.create(entry)]),
}

/** Copies the states of the chains, unless the recorder already continues them in the audit's own table. */
export const copyAuditDays: Upgrade<typeof EarlierAuditDayEntity> = {
  id: '0009-audit-days',
  title: 'copies the states of the audit’s chains into its own table',
  entity: EarlierAuditDayEntity,
  writes: async (day, { table }) => ((await table.get(AuditDayEntity, day)) ? [] : [AuditDayEntity.create(day)]),
}
