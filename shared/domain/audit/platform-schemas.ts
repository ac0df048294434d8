import * as z from 'zod'
import { AdminEntity, type AuditEntry } from '../../entities/platform.ts'
import type { Deps } from '../deps.ts'
import { namesOf } from './names.ts'
import { AuditEntrySchema, auditFilters, type Names, nameKey, presentEntry } from './schemas.ts'

/** An entry of the audit as the platform's staff sees it. */
export const PlatformAuditEntrySchema = () =>
  AuditEntrySchema()
    .extend({
      workspace_id: z.string().nullable().meta({ description: 'Where it happened; null outside of workspaces.' }),
      source_ip: z.string().nullable().meta({ description: 'From where; null for what no request did.' }),
    })
    .meta({ id: 'PlatformAuditEntry' })

/** Filters of the whole platform’s audit; all of those given must hold. */
export const platformAuditFilters = () => ({
  ...auditFilters(),
  workspace: z.string().min(1).max(100).optional().meta({ description: 'The id of the workspace it happened in.' }),
})

export const presentPlatformEntry = (entry: AuditEntry, names: Names) => ({
  ...presentEntry(entry, names),
  workspace_id: entry.scope === 'platform' ? null : entry.scope,
  source_ip: entry.source_ip ?? null,
})

/** What everybody and everything in these entries is called now; staff too, by name. */
export const namesForStaff = async (deps: Pick<Deps, 'table'>, entries: readonly AuditEntry[]): Promise<Names> => {
  const names = new Map(await namesOf(deps, 'platform', entries))
  const admins = [
    ...new Set(
      entries.flatMap(({ actor, target }) => [actor, target]).flatMap((one) => (one.type === 'admin' ? [one.id] : [])),
    ),
  ]
  const found = await deps.table.getAll(admins.map((id) => ({ entity: AdminEntity, key: AdminEntity.key({ id }) })))
  for (const [i, id] of admins.entries()) {
    names.set(nameKey({ type: 'admin', id }), found[i]?.name ?? 'Former admin')
  }
  return names
}
