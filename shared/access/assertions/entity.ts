import * as z from 'zod'
import { defineEntity } from '#shared/table/entity.ts'

const usedAssertion = () => z.object({ jti_hash: z.string(), expires_at: z.number() })

/** An assertion that a client signed, by the hash of client and `jti`. Each works once (RFC 7523 §3). */
export const UsedAssertionEntity = defineEntity({
  name: 'used-assertion',
  schema: usedAssertion,
  pk: 'ASSERTION#{jti_hash}',
  sk: 'ASSERTION',
  personal: 'none',
  retention: { workspace: 'kept', person: 'kept', app: 'kept' },
  expires: (item) => item.expires_at,
})
