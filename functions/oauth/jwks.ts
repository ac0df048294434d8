import * as z from 'zod'
import { listPublicKeys } from '#shared/foundation/signing-keys/index.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { publicDocument } from '#shared/http/response.ts'

const Jwks = () =>
  z
    .object({
      keys: z.array(
        z.object({
          kty: z.literal('EC'),
          crv: z.literal('P-256'),
          x: z.string(),
          y: z.string(),
          kid: z.string().meta({ description: 'Thumbprint of the key (RFC 7638).' }),
          alg: z.literal('ES256'),
          use: z.literal('sig'),
        }),
      ),
    })
    .meta({ id: 'Jwks' })

const jwks = defineEndpoint({
  id: 'oauth.jwks.read',
  group: 'oauth',
  method: 'GET',
  path: '/.well-known/jwks.json',
  caller: 'none',
  lenient: true,
  summary: 'Get the public keys that verify receipts (RFC 7517)',
  description: 'Keys stay listed after they are rotated out, so that old receipts can be verified.',
  response: Jwks,
  needs: ['table:read'],
  handler: async ({ work }) => publicDocument({ keys: await listPublicKeys(work, 'receipts') }),
})

export const endpoints = [jwks]
