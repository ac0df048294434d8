import * as z from 'zod'
import { defineEntity } from '#shared/table/entity.ts'

const signingKey = () =>
  z.object({
    /** Keyring of the private key. */
    ring: z.string(),
    /** Thumbprint of the key (RFC 7638). */
    kid: z.string(),
    x: z.string(),
    y: z.string(),
    created_at: z.number(),
  })

export type PublishedKey = z.infer<ReturnType<typeof signingKey>>

/**
 * Public half of a key that signed something. It stays published after the private key is retired, so that old
 * signatures can be verified. Only functions that sign may write it (infra/grants.ts), and none may change it.
 */
export const SigningKeyEntity = defineEntity({
  name: 'signing-key',
  schema: signingKey,
  pk: 'SIGNING-KEYS#{ring}',
  sk: 'KEY#{kid}',
  personal: 'none',
  retention: { workspace: 'kept', person: 'kept', app: 'kept' },
})
