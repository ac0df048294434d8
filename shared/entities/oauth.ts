import * as z from 'zod'
import { defineEntity } from '../table/entity.ts'

const consent = () =>
  z.object({
    nonce_hash: z.string(),
    app_id: z.string(),
    redirect_uri: z.string(),
    scopes: z.array(z.string()),
    state: z.string().optional(),
    code_challenge: z.string(),
    created_at: z.number(),
    expires_at: z.number(),
    /** The first signed-in person who opened it; nobody else sees it from then on. */
    user_id: z.string().optional(),
    decision: z.enum(['approve', 'deny']).optional(),
    session_id: z.string().optional(),
  })

export type Consent = z.infer<ReturnType<typeof consent>>

/** An authorize request waiting for a person's decision. Kept a day longer than it is valid, to say that it expired. */
export const ConsentEntity = defineEntity<Consent>()({
  name: 'consent',
  schema: consent,
  pk: 'CONSENT#{nonce_hash}',
  sk: 'CONSENT',
  expires: (item) => item.expires_at + 86_400_000,
})

const code = () =>
  z.object({
    code_hash: z.string(),
    app_id: z.string(),
    workspace_id: z.string(),
    installation_id: z.string(),
    grant_id: z.string(),
    redirect_uri: z.string(),
    code_challenge: z.string(),
    expires_at: z.number(),
    used_at: z.number().optional(),
    /** Hash of the refresh token that it was exchanged for. */
    successor_hash: z.string().optional(),
  })

/** Where an installation's codes and refresh tokens are found, which are otherwise reached by what they are worth only. */
export const secretsOf = (installationId: string): string => `${installationId}#SECRETS`

export type AuthorizationCode = z.infer<ReturnType<typeof code>>

/** Single use; kept a day, so that a second presentation is recognised and revokes what the first one issued. */
export const AuthorizationCodeEntity = defineEntity<AuthorizationCode>()({
  name: 'authorization-code',
  schema: code,
  pk: 'CODE#{code_hash}',
  sk: 'CODE',
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
    created_at: z.number(),
    expires_at: z.number(),
    /** Set once, by the refresh that replaced it. */
    rotated_at: z.number().optional(),
    /** Hash of the token that replaced it. */
    successor_hash: z.string().optional(),
    /** Sealed answer of that refresh, for requests that raced with it. */
    kept: z.string().optional(),
  })

export type RefreshToken = z.infer<ReturnType<typeof refreshToken>>

export const RefreshTokenEntity = defineEntity<RefreshToken>()({
  name: 'refresh-token',
  schema: refreshToken,
  pk: 'RFT#{token_hash}',
  sk: 'RFT',
  // A day longer than it is valid: a kept answer is given again only while its record tells that it is unused.
  expires: (item) => item.expires_at + 86_400_000,
  list: ({ installation_id, token_hash }) => ({ owner: secretsOf(installation_id), sort: token_hash }),
})
