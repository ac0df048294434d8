import * as z from 'zod'
import { defineEntity } from '#shared/table/entity.ts'

const consent = () =>
  z.object({
    nonce_hash: z.string(),
    app_id: z.string(),
    redirect_uri: z.string(),
    scopes: z.array(z.string()),
    state: z.string().optional(),
    code_challenge: z.string(),
    /** Issuer that the app asked, if it isn't the platform's first (contract/connect.md#two-issuers). */
    issuer: z.enum(['connect']).optional(),
    created_at: z.number(),
    expires_at: z.number(),
    /** The first person who opened it and could approve it, or who decided it. Nobody else sees it afterwards. */
    user_id: z.string().optional(),
    decision: z.enum(['approve', 'deny']).optional(),
    session_id: z.string().optional(),
  })

export type Consent = z.infer<ReturnType<typeof consent>>

/** An authorize request that waits for a person's decision. Kept a day after it expires, to report that it expired. */
export const ConsentEntity = defineEntity({
  name: 'consent',
  schema: consent,
  pk: 'CONSENT#{nonce_hash}',
  sk: 'CONSENT',
  personal: 'none',
  retention: { workspace: 'expires', person: 'kept', app: 'kept', days: 2 },
  expires: (item) => item.expires_at + 86_400_000,
})

const pushedRequest = () =>
  z.object({
    request_hash: z.string(),
    client_id: z.string(),
    parameters: z.record(z.string(), z.string()),
    expires_at: z.number(),
  })

/** Parameters of an authorize request that a client pushed (RFC 9126). Used once. */
export const PushedRequestEntity = defineEntity({
  name: 'pushed-request',
  schema: pushedRequest,
  pk: 'PAR#{request_hash}',
  sk: 'PAR',
  personal: 'none',
  retention: { workspace: 'kept', person: 'kept', app: 'kept' },
  expires: (item) => item.expires_at,
})
