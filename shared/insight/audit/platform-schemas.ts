import * as z from 'zod'
import type { Deps } from '#shared/foundation/work/index.ts'
import { AdminEntity } from '#shared/staff/admins/index.ts'
import type { AuditEntry } from '#shared/staff/audit/index.ts'
import { loadNames } from './names.ts'
import { AuditEntrySchema, auditFilters, type Names, nameKey, presentEntry } from './schemas.ts'

/** An audit entry as shown to admins. */
export const PlatformAuditEntrySchema = () =>
  AuditEntrySchema()
    .extend({
      workspace_id: z
        .string()
        .nullable()
        .meta({ description: 'The workspace it happened in. Null for actions outside of workspaces.' }),
      source_ip: z
        .string()
        .nullable()
        .meta({ description: 'IP address of the request. Null for actions without a request.' }),
    })
    .meta({ id: 'PlatformAuditEntry' })

/** Filters of the platform's audit, combined with AND. */
export const platformAuditFilters = () => ({
  ...auditFilters(),
  workspace: z.string().min(1).max(100).optional().meta({ description: 'ID of the workspace it happened in.' }),
})

export const presentPlatformEntry = (entry: AuditEntry, names: Names) => ({
  ...presentEntry(entry, names),
  workspace_id: entry.scope === 'platform' ? null : entry.scope,
  source_ip: entry.source_ip ?? null,
})

/** Loads the current names of all actors and targets in these entries, including admins. */
export const loadNamesForAdmins = async (deps: Pick<Deps, 'table'>, entries: readonly AuditEntry[]): Promise<Names> => {
  const names = new Map(await loadNames(deps, entries))
  const admins = [
    ...new Set(
      entries
        .flatMap(({ actor, target }) => [actor, target])
        .flatMap((named) => (named.type === 'admin' ? [named.id] : [])),
    ),
  ]
  const found = await deps.table.getAll(admins.map((id) => AdminEntity.ref({ id })))
  for (const [i, id] of admins.entries()) {
    names.set(nameKey({ type: 'admin', id }), found[i]?.name ?? 'Former admin')
  }
  return names
}
