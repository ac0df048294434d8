import * as z from 'zod'
import { listPublicKeys } from '#shared/foundation/signing-keys/index.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { publicDocument } from '#shared/http/response.ts'
import { DAY } from '#shared/kernel/clock.ts'

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
          purpose: z.enum(['receipts', 'cards']).meta({
            description: 'Purpose of the key. Verify receipts with keys of `receipts` only.',
          }),
        }),
      ),
    })
    .meta({ id: 'Jwks' })

/** Time for which a retired key of cards stays listed. Clients may have kept a card for that long. */
const CARD_KEY_LIFE = 35 * DAY

const jwks = defineEndpoint({
  id: 'oauth.jwks.read',
  group: 'oauth',
  method: 'GET',
  path: '/.well-known/jwks.json',
  caller: 'none',
  lenient: true,
  summary: 'Get the public keys that verify receipts and A2A cards (RFC 7517)',
  description:
    'Keys of receipts stay listed after they are rotated out, so that old receipts can be verified. Keys of cards stay ' +
    'listed for 35 days.',
  response: Jwks,
  needs: ['table:read'],
  handler: async ({ work }) => {
    const [receipts, cards] = await Promise.all([
      listPublicKeys(work, 'receipts'),
      listPublicKeys(work, 'cards', CARD_KEY_LIFE),
    ])
    return publicDocument({
      keys: [
        ...receipts.map((key) => ({ ...key, purpose: 'receipts' })),
        ...cards.map((key) => ({ ...key, purpose: 'cards' })),
      ],
    })
  },
})

export const endpoints = [jwks]
