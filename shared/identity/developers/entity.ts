import * as z from 'zod'
import { createdAt } from '#shared/table/created-at.ts'
import { defineEntity } from '#shared/table/entity.ts'
import { DEVELOPER_ROLES } from './roles.ts'

/** Ways to sign in to the portal. */
export const SIGN_INS = ['key', 'email', 'passkey', 'invitation'] as const

const keyFields = () => ({
  id: z.string(),
  key_hash: z.string(),
  created_at: createdAt(),
  expires_at: z.number(),
})

const namedKey = () => z.object({ ...keyFields(), name: z.string(), role: z.enum(DEVELOPER_ROLES) })

/** Developer key with a name and an expiry, in addition to the account's main key. */
export type NamedKey = z.infer<ReturnType<typeof namedKey>>

const portalSession = () =>
  z.object({
    ...keyFields(),
    session: z.object({
      /** Hash of the key that opened it, or id of the teammate who signed in. It has their rights, as long as they have any. */
      given_by: z.string(),
      via: z.enum(SIGN_INS),
      /** Address that the sign-in came from. */
      source_ip: z.string().optional(),
      /** Names of the browser and the system, if known. */
      browser: z.string().optional(),
      system: z.string().optional(),
    }),
  })

/** Key of a browser session, which isn't listed with the named keys and ends sooner. */
export type PortalSession = z.infer<ReturnType<typeof portalSession>>

export type AccountKey = NamedKey | PortalSession

export const isPortalSession = (key: AccountKey): key is PortalSession => 'session' in key

const member = () =>
  z.object({
    id: z.string(),
    email: z.string(),
    /** Given when they join. */
    name: z.string().optional(),
    role: z.enum(DEVELOPER_ROLES),
    joined_at: z.number().optional(),
    /** Newest invitation of somebody who hasn't joined. Earlier ones don't work anymore. */
    invitation: z
      .object({
        token_hash: z.string(),
        expires_at: z.number(),
        /** Hash of the key, or id of the teammate, that invited them. It must still be an owner's. */
        given_by: z.string(),
      })
      .optional(),
    /** Number of passkeys. */
    passkeys: z.number(),
  })

/** Teammate in a developer account, or somebody invited to be one. */
export type DeveloperMember = z.infer<ReturnType<typeof member>>

const developer = () =>
  z.object({
    id: z.string(),
    email: z.string(),
    name: z.string(),
    company: z.string().optional(),
    status: z.enum(['active', 'blocked']),
    /** Reason given by the admin who blocked the account. */
    status_reason: z.string().optional(),
    /** First part of manifest ids. Unique, and fixed by the first published manifest. */
    vendor: z.string().optional(),
    verified: z.boolean(),
    sandbox_workspace_id: z.string(),
    /** Newest invitation to the sandbox workspace. It may have been used. */
    sandbox_invitation_id: z.string().optional(),
    /** Hash of the main key. */
    key_hash: z.string(),
    /** Named keys and sessions, newest first. Kept here, so that blocking and recovery find every key. */
    keys: z.array(z.union([namedKey(), portalSession()])),
    /** Teammates. The person who registered is the first. */
    members: z.array(member()),
    /** Time at which the developer proved that the e-mail address is theirs. */
    email_verified_at: z.number().optional(),
    /** Language of their browser, for e-mail that no request causes. */
    language: z.string(),
    created_at: createdAt(),
  })

export type Developer = z.infer<ReturnType<typeof developer>>

export const DeveloperEntity = defineEntity({
  name: 'developer',
  schema: developer,
  pk: 'DEV#{id}',
  sk: 'DEV',
  personal: { contact: ['name', 'email', 'members', 'keys'] },
  retention: { workspace: 'kept', person: 'kept', app: 'kept' },
  directory: ({ id }) => ({ list: 'developers', sort: id }),
})

const key = () =>
  z.object({
    key_hash: z.string(),
    developer_id: z.string(),
    /** Copy of the account's status, so that authentication costs one read. An `ended` key only recovers the response of its rotation. */
    status: z.enum(['active', 'blocked', 'ended']),
    created_at: z.number(),
    /** On an ended key: SHA-256 of the rotation's Idempotency-Key, valid until `expires_at`. */
    recovery_hash: z.string().optional(),
    /** End of a named key, or of an ended key's recovery. */
    expires_at: z.number().optional(),
    /** Copy of the key's role, so that authentication costs one read. Null on a session, whose rights the account's record has. */
    role: z.enum(DEVELOPER_ROLES).nullable(),
    /** Time of a recent use, at most an hour before the last one. */
    last_used_at: z.number().optional(),
  })

/** Maps the hash of a developer key to its account. A rotation ends the old key. */
export const DeveloperKeyEntity = defineEntity({
  name: 'developer-key',
  schema: key,
  pk: 'DEVKEY#{key_hash}',
  sk: 'KEY',
  personal: 'none',
  retention: { workspace: 'kept', person: 'kept', app: 'kept' },
  expires: ({ expires_at }) => expires_at,
})

const emailToken = () =>
  z.object({
    token_hash: z.string(),
    developer_id: z.string(),
    purpose: z.enum(['prove', 'recover', 'sign_in', 'join']),
    /** Teammate whose address it was sent to. */
    member_id: z.string(),
    /** Address that the token was sent to. */
    email: z.string(),
    created_at: z.number(),
    expires_at: z.number(),
  })

/** Single-use token that was sent to a developer's e-mail address. */
export const EmailTokenEntity = defineEntity({
  name: 'email-token',
  schema: emailToken,
  pk: 'DEVMAIL#{token_hash}',
  sk: 'TOKEN',
  personal: { contact: ['email'] },
  retention: { workspace: 'expires', person: 'kept', app: 'kept', days: 9 },
  expires: ({ expires_at }) => expires_at,
})
