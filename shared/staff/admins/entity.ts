import * as z from 'zod'
import { createdAt } from '#shared/table/created-at.ts'
import { defineEntity } from '#shared/table/entity.ts'

const admin = () =>
  z.object({
    id: z.string(),
    email: z.string(),
    name: z.string(),
    role: z.enum(['superadmin', 'moderator']),
    password_hash: z.string(),
    /** Increased to end the admin's sessions, for example by a new password or role. */
    session_version: z.number(),
    /** Number of passkeys. Once there is one, a password alone no longer signs in. */
    passkeys: z.number().optional(),
    created_at: createdAt(),
  })

export type Admin = z.infer<ReturnType<typeof admin>>

export const AdminEntity = defineEntity({
  name: 'admin',
  schema: admin,
  pk: 'ADM#{id}',
  sk: 'ADM',
  personal: { contact: ['name', 'email'] },
  retention: { workspace: 'kept', person: 'kept', app: 'kept' },
  directory: ({ id }) => ({ list: 'admins', sort: id }),
})

const adminKey = () =>
  z.object({
    /** Absent for the local run’s fixed key, which can’t be managed. */
    id: z.string().optional(),
    key_hash: z.string(),
    admin_id: z.string(),
    name: z.string(),
    created_at: z.number(),
    expires_at: z.number().optional(),
  })

export const AdminKeyEntity = defineEntity({
  name: 'admin-key',
  schema: adminKey,
  pk: 'ADMKEY#{key_hash}',
  sk: 'KEY',
  personal: 'none',
  retention: { workspace: 'kept', person: 'kept', app: 'kept' },
  expires: (item) => item.expires_at,
})

const namedAdminKey = () =>
  z.object({
    id: z.string(),
    admin_id: z.string(),
    key_hash: z.string(),
    name: z.string(),
    created_by: z.string(),
    created_at: createdAt(),
    rotated_at: z.number().optional(),
    expires_at: z.number(),
  })

export type NamedAdminKey = z.infer<ReturnType<typeof namedAdminKey>>

/** Key of an admin, for listing, counting and removing keys. Written together with its {@link AdminKeyEntity}. */
export const NamedAdminKeyEntity = defineEntity({
  name: 'named-admin-key',
  schema: namedAdminKey,
  pk: 'ADM#{admin_id}',
  sk: 'KEY#{id}',
  personal: 'none',
  retention: { workspace: 'kept', person: 'kept', app: 'kept' },
})

const adminSession = () =>
  z.object({
    id: z.string(),
    admin_id: z.string(),
    /** The account's `session_version` at the sign-in. The session ends when the account's number changes. */
    version: z.number(),
    /** Time of the last proof that the admin is there, and what proved it. */
    confirmed_at: z.number(),
    confirmed_with: z.enum(['password', 'passkey']),
    source_ip: z.string().optional(),
    user_agent: z.string().optional(),
    created_at: createdAt(),
    expires_at: z.number(),
  })

export type AdminSession = z.infer<ReturnType<typeof adminSession>>

/** Session of an admin. Signing out deletes it, so its token stops working with the next request. */
export const AdminSessionEntity = defineEntity({
  name: 'admin-session',
  schema: adminSession,
  pk: 'ADM#{admin_id}',
  sk: 'SES#{id}',
  personal: { contact: ['source_ip', 'user_agent'] },
  retention: { workspace: 'expires', person: 'kept', app: 'kept', days: 1 },
  expires: (item) => item.expires_at,
})
