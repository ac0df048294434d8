import * as z from 'zod'
import { defineEntity } from '#shared/table/entity.ts'

const kept = () =>
  z.object({
    scope_hash: z.string(),
    body_hash: z.string(),
    state: z.enum(['started', 'done']),
    /** Request that holds the lock. A later request takes over after `locked_until`. */
    owner: z.string(),
    locked_until: z.number(),
    /** Time of the first request. Ids that the request creates derive from this record. */
    created_at: z.number(),
    status: z.number().optional(),
    /** Encrypted response: body, headers and original request id. */
    answer: z.string().optional(),
    expires_at: z.number(),
  })

export type IdempotencyRecord = z.infer<ReturnType<typeof kept>>

/** Record of an Idempotency-Key (contract/general.md#idempotency-keys). */
export const IdempotencyRecordEntity = defineEntity({
  name: 'kept-answer',
  schema: kept,
  pk: 'IDEM#{scope_hash}',
  sk: 'IDEM',
  personal: { text: ['answer'] },
  retention: { workspace: 'expires', person: 'expires', app: 'kept', days: 2 },
  expires: (item) => item.expires_at,
})
