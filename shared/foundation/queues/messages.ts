import * as z from 'zod'
import { type OutboxEvent, outboxSchema } from '../outbox/entity.ts'

/** Message that EventBridge puts into a queue. It is told from those that code sends by its `detail-type`, which they lack. */
export const BusMessage = z.object({
  kind: z.undefined().optional(),
  'detail-type': z.string(),
  detail: outboxSchema(),
})

export type BusMessage = z.infer<typeof BusMessage>

/** Returns the message that the bus would put into a queue for the event. */
export const busMessageOf = (event: OutboxEvent): BusMessage => ({ 'detail-type': event.type, detail: event })

/** Message about a new run, for `dispatch`. Its event rides in it. */
export const StartMessage = z.object({
  kind: z.literal('start'),
  event: outboxSchema(),
  /** Fields of the run, so that one call reads the run and what it refers to. */
  names: z.object({ version_id: z.string(), grant_id: z.string().optional(), is_sandbox: z.boolean() }),
})

export type StartMessage = z.infer<typeof StartMessage>

/** Message about an event to carry, for `fanout`. */
export const CarryMessage = z.object({ kind: z.literal('carry'), event_id: z.string() })

export type CarryMessage = z.infer<typeof CarryMessage>
