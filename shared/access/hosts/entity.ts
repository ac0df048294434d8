import * as z from 'zod'
import { DAY } from '#shared/kernel/clock.ts'
import { createdAt } from '#shared/table/created-at.ts'
import { defineEntity } from '#shared/table/entity.ts'

const grantClient = () =>
  z.object({
    /** Address of its document, or the id of its registration. */
    id: z.string(),
    /** The name that the client gives itself. Nobody has verified it. */
    name: z.string(),
    /** Host of its document, or of the address that people return to. The owner's allow-list names these. */
    host: z.string(),
  })

const hostGrant = () =>
  z.object({
    id: z.string(),
    workspace_id: z.string(),
    user_id: z.string(),
    client: grantClient(),
    /** Path of the resource, such as `/mcp`. */
    resource: z.string(),
    scopes: z.array(z.string()),
    /** Start of the membership that the person consented in. A later membership doesn't revive the grant. */
    member_since: z.number(),
    status: z.enum(['active', 'revoked']),
    revoked_reason: z.string().optional(),
    created_at: createdAt(),
    last_used_at: z.number().optional(),
    /** Longest life of its chain of refresh tokens. */
    expires_at: z.number(),
  })

export type HostGrant = z.infer<ReturnType<typeof hostGrant>>

/** Owner of the list of a workspace's live grants to hosts. */
export const hostGrantsOf = (workspaceId: string): string => `WS#${workspaceId}#HOSTS`

/** Period for which an ended grant stays readable. */
const KEPT = 30 * DAY

/** A person's consent that a host acts for them in one workspace. Listed while it is live. */
export const HostGrantEntity = defineEntity({
  name: 'host-grant',
  schema: hostGrant,
  pk: 'WS#{workspace_id}',
  sk: 'HOST#{id}',
  personal: 'none',
  retention: { workspace: 'removed', person: 'expires', app: 'kept' },
  expires: (item) => item.expires_at + KEPT,
  list: ({ workspace_id, id, status }) =>
    status === 'active' ? { owner: hostGrantsOf(workspace_id), sort: id } : undefined,
})

const hostClient = () =>
  z.object({
    id_hash: z.string(),
    /** Address of its document, or the id of its registration. */
    id: z.string(),
    kind: z.enum(['document', 'registered']),
    name: z.string(),
    redirect_uris: z.array(z.string()),
    /** Authentication at the token endpoint. */
    auth: z.enum(['none', 'private_key_jwt']),
    /** Public keys (RFC 7517): those of the document, or those last read from `jwks_uri`. */
    jwks: z.string().optional(),
    jwks_uri: z.string().optional(),
    /** Time until which the keys of `jwks_uri` count as fresh. */
    jwks_until: z.number().optional(),
    jwks_read_at: z.number().optional(),
    /** Time until which the document counts as fresh. Absent for registrations. */
    fresh_until: z.number().optional(),
    /** Time at which it is removed unless it is used. */
    expires_at: z.number(),
  })

export type HostClient = z.infer<ReturnType<typeof hostClient>>

/** A host, as its document or its registration describes it. */
export const HostClientEntity = defineEntity({
  name: 'host-client',
  schema: hostClient,
  pk: 'HOSTCLIENT#{id_hash}',
  sk: 'CLIENT',
  personal: 'none',
  retention: { workspace: 'kept', person: 'kept', app: 'kept' },
  expires: (item) => item.expires_at,
})

const hostConsent = () =>
  z.object({
    nonce_hash: z.string(),
    client: grantClient(),
    kind: z.enum(['document', 'registered']),
    redirect_uri: z.string(),
    resource: z.string(),
    scopes: z.array(z.string()),
    state: z.string().optional(),
    code_challenge: z.string(),
    created_at: z.number(),
    expires_at: z.number(),
    /** The first person who opened it and could approve it, or who decided it. Nobody else sees it afterwards. */
    user_id: z.string().optional(),
    decision: z.enum(['approve', 'deny']).optional(),
    session_id: z.string().optional(),
  })

export type HostConsent = z.infer<ReturnType<typeof hostConsent>>

/** A host's authorize request that waits for a person's decision. Kept a day after it expires, to report that it expired. */
export const HostConsentEntity = defineEntity({
  name: 'host-consent',
  schema: hostConsent,
  pk: 'HOSTCONSENT#{nonce_hash}',
  sk: 'CONSENT',
  personal: 'none',
  retention: { workspace: 'expires', person: 'kept', app: 'kept', days: 2 },
  expires: (item) => item.expires_at + DAY,
})

const hostReading = () =>
  z.object({
    url_hash: z.string(),
    /** The request that carries it out. */
    by: z.string(),
    /** Time after which it counts as lost. 0 once it has ended. */
    until: z.number(),
    is_read: z.boolean().optional(),
    /** Reason why the document or keys can’t be used, for the requests that waited. */
    problem: z.string().optional(),
    expires_at: z.number(),
  })

/** A reading of a host's document or keys, which the requests that come meanwhile share. */
export const HostReadingEntity = defineEntity({
  name: 'host-reading',
  schema: hostReading,
  pk: 'HOSTREADING#{url_hash}',
  sk: 'READING',
  personal: 'none',
  retention: { workspace: 'kept', person: 'kept', app: 'kept' },
  expires: (item) => item.expires_at,
})

const hostCode = () =>
  z.object({
    workspace_id: z.string(),
    code_hash: z.string(),
    grant_id: z.string(),
    client_id: z.string(),
    redirect_uri: z.string(),
    code_challenge: z.string(),
    expires_at: z.number(),
    used_at: z.number().optional(),
  })

export type HostCode = z.infer<ReturnType<typeof hostCode>>

/** Single use. Kept for a day, so that a second presentation is recognized and ends the grant. */
export const HostCodeEntity = defineEntity({
  name: 'host-code',
  schema: hostCode,
  pk: 'WS#{workspace_id}',
  sk: 'HOSTCODE#{code_hash}',
  personal: 'none',
  retention: { workspace: 'removed', person: 'expires', app: 'kept' },
  expires: (item) => item.expires_at + DAY,
})

const hostRefreshToken = () =>
  z.object({
    workspace_id: z.string(),
    token_hash: z.string(),
    grant_id: z.string(),
    client_id: z.string(),
    created_at: z.number(),
    expires_at: z.number(),
    /** Set once, by the refresh that replaced this token. */
    rotated_at: z.number().optional(),
    /** Hash of the token that replaced this one. */
    successor_hash: z.string().optional(),
    /** Sealed answer of that refresh, which a repeat may get for 30 seconds. */
    kept: z.string().optional(),
  })

export type HostRefreshToken = z.infer<ReturnType<typeof hostRefreshToken>>

export const HostRefreshTokenEntity = defineEntity({
  name: 'host-refresh-token',
  schema: hostRefreshToken,
  pk: 'WS#{workspace_id}',
  sk: 'HOSTRFT#{token_hash}',
  personal: 'none',
  retention: { workspace: 'removed', person: 'expires', app: 'kept' },
  expires: (item) => item.expires_at + DAY,
})
