import * as z from 'zod'
import { idField, time } from '#shared/foundation/schemas/index.ts'
import { iso } from '#shared/kernel/clock.ts'
import { isId } from '#shared/kernel/ids.ts'
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
      names: z.record(z.string(), z.string()).meta({
        description:
          'Current names of people, agents, apps and developers that `before`, `after` and `details` mention, by ID.',
        example: { ins_01j9zq3v7b8c9d0e1f2g3h4j5k: 'Stock helper' },
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

/** Kinds of records that have a name. */
const KINDS = ['user', 'installation', 'app', 'developer'] as const

/** Maximum number of records named per entry, because details can list many. */
const MENTIONED = 10

/** Returns the records that the details mention by their ids, also those in the state before and after. */
export const mentioned = (details: Record<string, unknown>): AuditEntry['actor'][] => {
  const side = (name: string) => {
    const value = details[name]
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.values(value) : [value]
  }
  return [...Object.values(details), ...side('before'), ...side('after')]
    .flat()
    .flatMap((id) => {
      const type = typeof id === 'string' && KINDS.find((kind) => isId(kind, id))
      return type ? [{ type, id: id as string }] : []
    })
    .slice(0, MENTIONED)
}

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
    names: Object.fromEntries(
      mentioned(entry.details).flatMap((record) => {
        const name = names.get(nameKey(record))
        return name === undefined ? [] : [[record.id, name]]
      }),
    ),
    request_id: entry.request_id ?? null,
    created_at: iso(entry.created_at),
  }
}
