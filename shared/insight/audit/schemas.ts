import * as z from 'zod'
import { idField, time } from '#shared/foundation/schemas/index.ts'
import { iso } from '#shared/kernel/clock.ts'
import type { AuditEntry } from '#shared/staff/audit/index.ts'

const named = (example: string) => ({
  type: z.string().meta({ example }),
  id: z.string(),
  name: z.string().nullable().meta({ description: 'Current name. Null if it has none.' }),
})

/** An audit entry as shown to the workspace's admins. */
export const AuditEntrySchema = () =>
  z
    .object({
      id: idField('aud'),
      action: z.string().meta({ example: 'member.role_changed' }),
      actor: z.object(named('user')).meta({
        description:
          'The actor: `user`, `agent` (an installation), `app`, `developer`, `admin` (an admin of the platform, without a name) or `system`. People who left the platform are named “Deleted person”.',
      }),
      subject: z.object(named('installation')).meta({
        description:
          'The record that the action was applied to. A run of another person’s private conversation has the ID `private`.',
      }),
      before: z
        .record(z.string(), z.unknown())
        .nullable()
        .meta({ description: 'The changed values before the action.' }),
      after: z.record(z.string(), z.unknown()).nullable().meta({ description: 'The changed values after the action.' }),
      details: z.record(z.string(), z.unknown()).meta({
        description:
          'More details, depending on the action: IDs, scopes, reasons. Never contains secrets or the values of settings.',
      }),
      request_id: idField('req').nullable().meta({ description: 'Null for actions without a request.' }),
      created_at: time(),
    })
    .meta({ id: 'AuditEntry' })

export type AuditEntryView = z.infer<ReturnType<typeof AuditEntrySchema>>

const moment = (description: string) =>
  z.iso.datetime({ offset: true }).optional().meta({ description, example: '2026-11-21T00:00:00.000+00:00' })

/** Filters of the audit, combined with AND. */
export const auditFilters = () => ({
  action: z
    .string()
    .regex(/^[a-z_]+(\.[a-z_]+)*(\.\*)?$/, 'must be an action or a prefix such as member.*')
    .max(100)
    .optional()
    .meta({ description: 'An action, or a prefix such as `member.*`.' }),
  actor: z.string().min(1).max(100).optional().meta({ description: 'ID of the actor.' }),
  subject: z.string().min(1).max(100).optional().meta({ description: 'ID of the subject.' }),
  since: moment('Entries created at this time or later.'),
  until: moment('Entries created before this time.'),
})

export interface AuditFilter {
  action?: string | undefined
  actor?: string | undefined
  subject?: string | undefined
  since?: string | undefined
  until?: string | undefined
}

/** Names of actors and targets, by `type id`. */
export type Names = ReadonlyMap<string, string>

export const nameKey = ({ type, id }: { type: string; id: string }): string => `${type} ${id}`

const object = (value: unknown): Record<string, unknown> | null =>
  value === undefined ? null : typeof value === 'object' && value !== null ? { ...value } : { value }

export const presentEntry = (entry: AuditEntry, names: Names): AuditEntryView => {
  const { before, after, ...details } = entry.details
  const shown = (record: { type: string; id: string }) => ({ ...record, name: names.get(nameKey(record)) ?? null })
  return {
    id: entry.id,
    action: entry.action,
    actor: shown(entry.actor),
    subject: shown(entry.target),
    before: object(before),
    after: object(after),
    details,
    request_id: entry.request_id ?? null,
    created_at: iso(entry.created_at),
  }
}
