import * as z from 'zod'
import { createdAt } from '#shared/table/created-at.ts'
import { defineEntity } from '#shared/table/entity.ts'

const entry = () => ({
  id: z.string(),
  /** `ws_…`, or `platform` for actions of admins and developers outside a workspace. */
  scope: z.string(),
  action: z.string(),
  actor: z.object({ type: z.string(), id: z.string() }),
  target: z.object({ type: z.string(), id: z.string() }),
  source_ip: z.string().optional(),
  /** Request that caused the entry. Absent if the platform did it by itself. */
  request_id: z.string().optional(),
  details: z.record(z.string(), z.unknown()),
  /** Person whose private conversation it belongs to. Other members don't see what in it names the conversation's work. */
  private_to: z.string().optional(),
  created_at: createdAt(),
})

const link = () =>
  z.object({
    /** UTC day on which the entry was recorded, `YYYY-MM-DD`. Each day has a chain. */
    day: z.string(),
    /** Place in the day's chain, from 1. */
    seq: z.number(),
    /** Hash of the entry before it. For a day's first entry, that of the last day before. */
    previous: z.string(),
    /** SHA-256 of `previous` and the entry. */
    hash: z.string(),
  })

const newEntry = () => z.object(entry())
const audit = () => z.object({ ...entry(), chain: link() })

/** Entry as the transaction of a change writes it. */
export type NewAuditEntry = z.infer<ReturnType<typeof newEntry>>
export type AuditEntry = z.infer<ReturnType<typeof audit>>

/** Returns the start of the month. The platform’s audit list is split by month, so 90 days read at most four parts. */
export const auditMonth = (ms: number): number => {
  const at = new Date(ms)
  return Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), 1)
}

/** Returns the list of audit entries about one record. */
export const auditOf = (targetId: string): string => `AUDIT#OF#${targetId}`

const KEPT = 2 * 365 * 86_400_000

/**
 * Audit entry on its way into the audit. It is written in the transaction of the change. The recorder gets it from the
 * table's stream as it was written, so overwriting it has no effect.
 */
export const AuditIntakeEntity = defineEntity({
  name: 'audit-intake',
  schema: newEntry,
  pk: 'AUDITING#{scope}',
  sk: 'AUD#{id}',
  // The recorder moves it into the audit.
  personal: { contact: ['source_ip'] },
  retention: { workspace: 'kept', person: 'kept', app: 'kept' },
  directory: ({ id }) => ({ list: 'audit-intake', sort: id }),
})

/**
 * Audit entry. Append-only: it is in a table of its own, to which only the recorder may add and in which no role may update or delete
 * anything.
 */
export const AuditEntity = defineEntity({
  table: 'audit',
  name: 'audit',
  schema: audit,
  pk: 'AUDIT#{scope}',
  sk: 'AUD#{id}',
  personal: { contact: ['source_ip'] },
  retention: { workspace: 'kept', person: 'kept', app: 'kept' },
  expires: ({ created_at }) => created_at + KEPT,
  directory: ({ id, created_at }) => ({ list: 'audit', day: auditMonth(created_at), sort: id }),
  list: ({ target, id }) => ({ owner: auditOf(target.id), sort: id }),
})

const day = () =>
  z.object({
    scope: z.string(),
    day: z.string(),
    /** Hash before the day's first entry. */
    previous: z.string(),
    count: z.number(),
    /** Hash of the day's last entry. */
    head: z.string(),
    /** Least and greatest id of the day's entries. */
    first_id: z.string(),
    last_id: z.string(),
    /** Entries that are in the bucket, and the number of objects that hold them. */
    anchored: z.number(),
    anchors: z.number(),
    created_at: z.number(),
  })

export type AuditDay = z.infer<ReturnType<typeof day>>

/**
 * State of a scope's chain on one day. Only the recorder may write it. It puts a new state over the one that it read, because no role
 * may update anything in the audit's table.
 */
export const AuditDayEntity = defineEntity({
  table: 'audit',
  name: 'audit-day',
  schema: day,
  pk: 'AUDIT-DAY#{scope}',
  sk: 'DAY#{day}',
  personal: 'none',
  retention: { workspace: 'kept', person: 'kept', app: 'kept' },
  expires: ({ created_at }) => created_at + KEPT,
})

/** Returns the condition that a chain is still in the state that was read. */
export const stateOf = ({ count, head, anchors }: AuditDay) => ({ count, head, anchors })

const unanchored = () => z.object({ scope: z.string(), day: z.string(), created_at: z.number() })

/** Mark of a chain with entries that aren't in the bucket yet. */
export const UnanchoredEntity = defineEntity({
  name: 'audit-unanchored',
  schema: unanchored,
  pk: 'AUDIT-DAY#{scope}',
  sk: 'UNANCHORED#{day}',
  personal: 'none',
  retention: { workspace: 'kept', person: 'kept', app: 'kept' },
  directory: ({ scope, day: on }) => ({ list: 'audit-unanchored', sort: `${on}#${scope}` }),
})
