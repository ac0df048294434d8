import { OutboxEntity, type OutboxEvent } from '../entities/events.ts'
import { type Clock, iso, SECOND } from '../kernel/clock.ts'
import { newId } from '../kernel/ids.ts'
import type { Write } from '../table/entity.ts'
import type { EventEnvelope, EventType } from './catalogue.ts'

/**
 * How long after its time what should be done counts as forgotten. There is a sweep every half a minute: it is done within two
 * minutes, even if one of them dies.
 */
export const GRACE = 45 * SECOND

export interface NewEvent {
  type: EventType
  workspace_id: string
  installation_id?: string | undefined
  app_id?: string | undefined
  /** Whose alone it is, among people. */
  private_to?: string | undefined
  data: Record<string, unknown>
  test?: true | undefined
}

/**
 * The event as a record. Its data is kept as JSON text, so that any value that JSON can carry is kept as it is.
 * @param id one that is the same at every try, where a repeated writer must not tell twice
 */
export const newEvent = (clock: Clock, event: NewEvent, id?: string): OutboxEvent => {
  const now = clock.now()
  return {
    ...event,
    data: JSON.stringify(event.data),
    id: id ?? newId('event', now),
    created_at: now,
    due_at: now + GRACE,
  }
}

/** The write that tells of a change; it belongs into the transaction of that change. */
export const tell = (clock: Clock, event: NewEvent): Write => OutboxEntity.create(newEvent(clock, event))

/** What receivers and pollers get. */
export const envelope = (event: OutboxEvent): EventEnvelope => ({
  id: event.id,
  type: event.type,
  created_at: iso(event.created_at),
  workspace_id: event.workspace_id,
  data: JSON.parse(event.data),
  ...(event.test && { test: true }),
})
