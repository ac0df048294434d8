import * as z from 'zod'
import { defineEntity } from '../table/entity.ts'

const bucket = () => z.object({ name: z.string(), tat: z.number(), expires_at: z.number().optional() })

/** A rate limit's theoretical arrival time (GCRA), epoch ms. */
export const BucketEntity = defineEntity<z.infer<ReturnType<typeof bucket>>>()({
  name: 'bucket',
  schema: bucket,
  pk: 'RATE#{name}',
  sk: 'RATE',
  expires: ({ expires_at }) => expires_at,
})

const openStreams = () => z.object({ caller: z.string(), open: z.array(z.string()), expires_at: z.number() })

/** A caller's open streams, oldest first, by their requests' ids. */
export const OpenStreamsEntity = defineEntity<z.infer<ReturnType<typeof openStreams>>>()({
  name: 'open-streams',
  schema: openStreams,
  pk: 'STREAMS#{caller}',
  sk: 'STREAMS',
  expires: ({ expires_at }) => expires_at,
})

const kept = () =>
  z.object({
    scope_hash: z.string(),
    body_hash: z.string(),
    state: z.enum(['started', 'done']),
    /** The request that holds it; a later one takes over after `locked_until`. */
    owner: z.string(),
    locked_until: z.number(),
    /** First seen: ids of what the request creates derive from this record. */
    created_at: z.number(),
    status: z.number().optional(),
    /** Sealed answer: body, headers, original request id. */
    answer: z.string().optional(),
    expires_at: z.number(),
  })

export type Kept = z.infer<ReturnType<typeof kept>>

/** What an Idempotency-Key stands for (decisions §1). */
export const KeptEntity = defineEntity<Kept>()({
  name: 'kept-answer',
  schema: kept,
  pk: 'IDEM#{scope_hash}',
  sk: 'IDEM',
  expires: (item) => item.expires_at,
})

const audit = () =>
  z.object({
    id: z.string(),
    /** `ws_…`, or `platform` for what staff and developers do outside a workspace. */
    scope: z.string(),
    action: z.string(),
    actor: z.object({ type: z.string(), id: z.string() }),
    target: z.object({ type: z.string(), id: z.string() }),
    source_ip: z.string().optional(),
    /** The request that did it; absent in entries made before it was kept. */
    request_id: z.string().optional(),
    details: z.record(z.string(), z.unknown()),
    created_at: z.number(),
  })

export type AuditEntry = z.infer<ReturnType<typeof audit>>

/** The start of the month, by which the whole platform’s audit is kept: a list of 90 days reads four of them. */
export const auditMonth = (ms: number): number => {
  const at = new Date(ms)
  return Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), 1)
}

/** Where the entries about one record are found. */
export const auditOf = (targetId: string): string => `AUDIT#OF#${targetId}`

/** Append-only: every role is denied update and delete on these keys. */
export const AuditEntity = defineEntity<AuditEntry>()({
  name: 'audit',
  schema: audit,
  pk: 'AUDIT#{scope}',
  sk: 'AUD#{id}',
  expires: ({ created_at }) => created_at + 2 * 365 * 86_400_000,
  directory: ({ id, created_at }) => ({ list: 'audit', day: auditMonth(created_at), sort: id }),
  list: ({ target, id }) => ({ owner: auditOf(target.id), sort: id }),
})

const admin = () =>
  z.object({
    id: z.string(),
    email: z.string(),
    name: z.string(),
    role: z.enum(['superadmin', 'moderator']),
    password_hash: z.string(),
    /** Raised by what ends the admin's sessions: a new password, a new role. */
    session_version: z.number(),
    created_at: z.number(),
  })

export type Admin = z.infer<ReturnType<typeof admin>>

export const AdminEntity = defineEntity<Admin>()({
  name: 'admin',
  schema: admin,
  pk: 'ADM#{id}',
  sk: 'ADM',
  directory: ({ id }) => ({ list: 'admins', sort: id }),
})

const adminKey = () =>
  z.object({
    /** Absent for the local run’s own key, which nobody manages. */
    id: z.string().optional(),
    key_hash: z.string(),
    admin_id: z.string(),
    name: z.string(),
    created_at: z.number(),
    expires_at: z.number().optional(),
  })

export const AdminKeyEntity = defineEntity<z.infer<ReturnType<typeof adminKey>>>()({
  name: 'admin-key',
  schema: adminKey,
  pk: 'ADMKEY#{key_hash}',
  sk: 'KEY',
  expires: (item) => item.expires_at,
})

const namedAdminKey = () =>
  z.object({
    id: z.string(),
    admin_id: z.string(),
    key_hash: z.string(),
    name: z.string(),
    created_by: z.string(),
    created_at: z.number(),
    rotated_at: z.number().optional(),
    expires_at: z.number(),
  })

export type NamedAdminKey = z.infer<ReturnType<typeof namedAdminKey>>

/** An admin’s keys, by which they are listed, counted and removed; each written with its {@link AdminKeyEntity}. */
export const NamedAdminKeyEntity = defineEntity<NamedAdminKey>()({
  name: 'named-admin-key',
  schema: namedAdminKey,
  pk: 'ADM#{admin_id}',
  sk: 'KEY#{id}',
})

const stoppage = () =>
  z.object({
    /** What was suspended. */
    kind: z.enum(['app', 'workspace', 'installation']),
    id: z.string(),
    /** Of an installation. */
    workspace_id: z.string().optional(),
    created_at: z.number(),
    /** When the present round through its installations began, and after which one it goes on. */
    round_at: z.number(),
    after: z.string().optional(),
    /** Raised by every step, so that of two workers one goes on. */
    step: z.number(),
    due_at: z.number(),
  })

export type Stoppage = z.infer<ReturnType<typeof stoppage>>

/** What is to be ended after something was suspended: written with the suspension, kept until it is done. */
export const StoppageEntity = defineEntity<Stoppage>()({
  name: 'stoppage',
  schema: stoppage,
  pk: 'STOPPAGE#{kind}#{id}',
  sk: 'STOPPAGE',
  due: true,
})

const platformSettings = () => z.object({ name: z.string(), denied_tools: z.array(z.string()), updated_at: z.number() })

/** Settings of the whole platform; one item, read with every tool call. */
export const PlatformSettingsEntity = defineEntity<z.infer<ReturnType<typeof platformSettings>>>()({
  name: 'platform-settings',
  schema: platformSettings,
  pk: 'PLATFORM#{name}',
  sk: 'SETTINGS',
})

const platformIdentity = () =>
  z.object({
    name: z.string(),
    display_name: z.string(),
    logo_url: z.string().optional(),
    /** A rule of behaviour that is added to the orchestrator's system prompt. */
    policy: z.string().optional(),
    updated_at: z.number(),
  })

/** As whom the platform's own orchestrator speaks; one item, read with each of its turns. */
export const PlatformIdentityEntity = defineEntity<z.infer<ReturnType<typeof platformIdentity>>>()({
  name: 'platform-identity',
  schema: platformIdentity,
  pk: 'PLATFORM#{name}',
  sk: 'IDENTITY',
})
