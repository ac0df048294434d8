import * as z from 'zod'
import { createdAt } from '#shared/table/created-at.ts'
import { defineEntity } from '#shared/table/entity.ts'

const passkey = () =>
  z.object({
    id: z.string(),
    /** Account that it signs in to: `adm_…` or `usr_…`. Also its user handle, which the authenticator stores. */
    owner_id: z.string(),
    /** Id that the authenticator gave the credential, in base64url. */
    credential_id: z.string(),
    /** COSE key in base64url. */
    public_key: z.string(),
    /** Signature counter. A lower one than the stored indicates a cloned authenticator. */
    counter: z.number(),
    transports: z.array(z.string()),
    /** True if the passkey is synced, so that the loss of one device doesn’t lose it. */
    backed_up: z.boolean(),
    name: z.string(),
    created_at: createdAt(),
    last_used_at: z.number().optional(),
  })

export type Passkey = z.infer<ReturnType<typeof passkey>>

/** Passkey of an admin or a person (WebAuthn). Holds nothing secret. */
export const PasskeyEntity = defineEntity({
  name: 'passkey',
  schema: passkey,
  pk: 'PASSKEYS#{owner_id}',
  sk: 'PASSKEY#{id}',
  personal: 'none',
  retention: { workspace: 'kept', person: 'removed', app: 'kept' },
})

export const PURPOSES = ['add', 'confirm', 'sign_in'] as const
export type Purpose = (typeof PURPOSES)[number]

const passkeyChallenge = () =>
  z.object({
    id: z.string(),
    purpose: z.enum(PURPOSES),
    /** Account that asked. Absent at a sign-in, where the passkey names its account. */
    owner_id: z.string().optional(),
    challenge: z.string(),
    expires_at: z.number(),
  })

/** Challenge of one ceremony. Deleted in the transaction of the change that it authorizes, so it works once. */
export const PasskeyChallengeEntity = defineEntity({
  name: 'passkey-challenge',
  schema: passkeyChallenge,
  pk: 'CHALLENGE#{id}',
  sk: 'CHALLENGE',
  personal: 'none',
  retention: { workspace: 'expires', person: 'expires', app: 'kept', days: 1 },
  expires: ({ expires_at }) => expires_at,
})
