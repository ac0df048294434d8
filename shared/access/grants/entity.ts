import * as z from 'zod'
import { defineEntity } from '#shared/table/entity.ts'
import { secretsOf } from '../installations/entity.ts'

export { type Grant, GrantEntity, grantsOf } from '../installations/grant-entity.ts'

const code = () =>
  z.object({
    code_hash: z.string(),
    app_id: z.string(),
    workspace_id: z.string(),
    installation_id: z.string(),
    grant_id: z.string(),
    redirect_uri: z.string(),
    code_challenge: z.string(),
    /** Issuer that gave the code, if it isn't the platform's first. Only that one redeems it. */
    issuer: z.enum(['connect']).optional(),
    expires_at: z.number(),
    used_at: z.number().optional(),
    /** Hash of the refresh token that the code was exchanged for. */
    successor_hash: z.string().optional(),
  })

export type AuthorizationCode = z.infer<ReturnType<typeof code>>

/** Single use. Kept for a day, so that a second presentation is recognized and revokes what the first one issued. */
export const AuthorizationCodeEntity = defineEntity({
  name: 'authorization-code',
  schema: code,
  pk: 'CODE#{code_hash}',
  sk: 'CODE',
  personal: 'none',
  retention: { workspace: 'removed', person: 'kept', app: 'kept' },
  expires: (item) => item.expires_at + 86_400_000,
  list: ({ installation_id, code_hash }) => ({ owner: secretsOf(installation_id), sort: code_hash }),
})

const refreshToken = () =>
  z.object({
    token_hash: z.string(),
    app_id: z.string(),
    workspace_id: z.string(),
    installation_id: z.string(),
    grant_id: z.string(),
    /** Issuer of the token, if it isn't the platform's first. Only that one says anything about it. */
    issuer: z.enum(['connect']).optional(),
    created_at: z.number(),
    expires_at: z.number(),
    /** Set once, by the refresh that replaced this token. */
    rotated_at: z.number().optional(),
    /** Hash of the token that replaced this one. */
    successor_hash: z.string().optional(),
  })

export type RefreshToken = z.infer<ReturnType<typeof refreshToken>>

export const RefreshTokenEntity = defineEntity({
  name: 'refresh-token',
  schema: refreshToken,
  pk: 'RFT#{token_hash}',
  sk: 'RFT',
  personal: 'none',
  retention: { workspace: 'removed', person: 'kept', app: 'kept' },
  // A day longer than the token is valid: the kept response is repeated only while its record shows it unused.
  expires: (item) => item.expires_at + 86_400_000,
  list: ({ installation_id, token_hash }) => ({ owner: secretsOf(installation_id), sort: token_hash }),
})

const refreshSuccessor = () =>
  z.object({
    /** Hash of the token that was replaced. */
    token_hash: z.string(),
    /** Sealed answer of the refresh. */
    kept: z.string(),
    expires_at: z.number(),
  })

/** Answer of a refresh, for requests that raced with it. Readers ignore it after a minute. */
export const RefreshSuccessorEntity = defineEntity({
  name: 'refresh-successor',
  schema: refreshSuccessor,
  pk: 'RFT#{token_hash}',
  sk: 'SUCCESSOR',
  personal: 'none',
  retention: { workspace: 'expires', person: 'kept', app: 'kept', days: 2 },
  expires: (item) => item.expires_at,
  hides: () => true,
})
