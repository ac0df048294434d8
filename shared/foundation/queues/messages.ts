import * as z from 'zod'
import { type OutboxEvent, outboxSchema } from '../outbox/entity.ts'

/*
 * Every message of a queue has a `kind`. The messages that a queue takes are one union of those kinds, which its worker declares.
 */

/** Message about an event. The bus puts it into the queues whose `fromBus` names the event's type. */
export const EventMessage = z.object({ kind: z.literal('event'), event: outboxSchema() })

type EventMessage = z.infer<typeof EventMessage>

/** Returns the message about an event, for the process that carries it. */
export const eventMessage = (event: OutboxEvent): EventMessage => ({ kind: 'event', event })

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

/** Message about a schedule that couldn't be started with the delivery of its event, for `fanout`. */
export const TriggerMessage = z.object({
  kind: z.literal('trigger'),
  event_id: z.string(),
  workspace_id: z.string(),
  schedule_id: z.string(),
})

export type TriggerMessage = z.infer<typeof TriggerMessage>

/** Reads a message from a queue. EventBridge puts an event into an envelope of its own, which becomes an {@link EventMessage} here. */
export const readMessage = (body: string): unknown => {
  const message: unknown = JSON.parse(body)
  const isEnvelope = typeof message === 'object' && message !== null && 'detail-type' in message
  return isEnvelope ? { kind: 'event', event: (message as { detail?: unknown }).detail } : message
}
