import * as z from 'zod'
import { outboxSchema } from '../outbox/entity.ts'

/** Message that EventBridge puts into a queue. */
export const BusMessage = z.object({
  'detail-type': z.string(),
  detail: outboxSchema(),
  /** Fields of the event's run, so that its dispatcher reads the run and what it refers to in one call. */
  run: z.object({ version_id: z.string(), grant_id: z.string().optional(), is_sandbox: z.boolean() }).optional(),
})

export type BusMessage = z.infer<typeof BusMessage>
