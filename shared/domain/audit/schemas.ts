import * as z from 'zod'
import type { AuditEntry } from '../../entities/platform.ts'
import { iso } from '../../kernel/clock.ts'
import { idField, time } from '../fields.ts'

const named = (example: string) => ({
  type: z.string().meta({ example }),
  id: z.string(),
  name: z.string().nullable().meta({ description: 'As it is called now; null for what has no name.' }),
})

/** An entry of the audit as the workspace's admins see it. */
export const AuditEntrySchema = () =>
  z
    .object({
      id: idField('aud'),
      action: z.string().meta({ example: 'member.role_changed' }),
      actor: z.object(named('user')).meta({
        description:
          'Who did it: `user`, `agent` (an installation), `app`, `developer`, `admin` (the platform’s staff, not named), `system`. Somebody who left the platform is called “Deleted person”.',
      }),
      subject: z.object(named('installation')).meta({ description: 'What it was done to.' }),
      before: z.record(z.string(), z.unknown()).nullable().meta({ description: 'What changed, as it was.' }),
      after: z.record(z.string(), z.unknown()).nullable().meta({ description: 'What changed, as it became.' }),
      details: z.record(z.string(), z.unknown()).meta({
        description: 'More, by the action: ids, scopes, reasons. Never a secret, nor a setting’s value.',
      }),
      request_id: idField('req')
        .nullable()
        .meta({ description: 'Null for what no request did, and in older entries.' }),
      created_at: time(),
    })
    .meta({ id: 'AuditEntry' })

export type AuditEntryView = z.infer<ReturnType<typeof AuditEntrySchema>>

const moment = (what: string) =>
  z.iso.datetime({ offset: true }).optional().meta({ description: what, example: '2026-11-21T00:00:00.000+00:00' })

/** Filters of the audit; all of those given must hold. */
export const auditFilters = () => ({
  action: z
    .string()
    .regex(/^[a-z_]+(\.[a-z_]+)*(\.\*)?$/, 'must be an action, or a mask such as member.*')
    .max(100)
    .optional()
    .meta({ description: 'An action, or a mask such as `member.*`.' }),
  actor: z.string().min(1).max(100).optional().meta({ description: 'The id of who did it.' }),
  subject: z.string().min(1).max(100).optional().meta({ description: 'The id of what it was done to.' }),
  since: moment('Not before.'),
  until: moment('Before.'),
})

export interface AuditFilter {
  action?: string | undefined
  actor?: string | undefined
  subject?: string | undefined
  since?: string | undefined
  until?: string | undefined
}

/** Who and what an entry names, by `type id`. */
export type Names = ReadonlyMap<string, string>

export const nameKey = ({ type, id }: { type: string; id: string }): string => `${type} ${id}`

const object = (value: unknown): Record<string, unknown> | null =>
  value === undefined ? null : typeof value === 'object' && value !== null ? { ...value } : { value }

export const presentEntry = (entry: AuditEntry, names: Names): AuditEntryView => {
  const { before, after, ...details } = entry.details
  const shown = (one: { type: string; id: string }) => ({ ...one, name: names.get(nameKey(one)) ?? null })
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
