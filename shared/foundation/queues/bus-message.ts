import * as z from 'zod'
import { outboxSchema } from '../outbox/entity.ts'

/** Message that EventBridge puts into a queue. */
export const BusMessage = z.object({
  'detail-type': z.string(),
  detail: outboxSchema(),
})

export type BusMessage = z.infer<typeof BusMessage>
