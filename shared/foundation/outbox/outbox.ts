import { type Clock, iso, SECOND } from '#shared/kernel/clock.ts'
import { newId, stampOf } from '#shared/kernel/ids.ts'
import type { StoredTrace } from '#shared/kernel/tracing/context.ts'
import { traceAbout } from '#shared/kernel/tracing/scope.ts'
import type { Write } from '#shared/table/entity.ts'
import { currentCause } from './cause.ts'
import type { EventEnvelope } from './definition.ts'
import { OutboxEntity, type OutboxEvent } from './entity.ts'

/**
 * Grace period before overdue work is considered lost. A sweep runs every 30 seconds, so overdue work completes within
 * two minutes even if one sweep fails.
 */
export const OVERDUE_GRACE = 45 * SECOND

export interface NewEvent<Type extends string = string> {
  type: Type
  workspace_id: string
  installation_id?: string | undefined
  app_id?: string | undefined
  /** Installation for which it is the last event. */
  last_for?: string | undefined
  /** The only person who may see the event. */
  private_to?: string | undefined
  /** Run that caused it. Default: the one whose work makes it, if any. */
  caused_by?: OutboxEvent['caused_by']
  data: Record<string, unknown>
  test?: true | undefined
  /** Its run's changes are pushed to A2A clients. */
  pushes?: true | undefined
  /** Trace of the record that it is about, for work that belongs to another one. */
  trace?: StoredTrace | undefined
  /** Time of the record whose creation it reports. Default: now. */
  at?: number | undefined
}

/**
 * Creates the record of an event. Stores its data as JSON text, so that any JSON value is kept exactly.
 * @param id stable id, for example of a writer that may be repeated, so that it doesn't emit the event twice
 */
export const newEvent = (clock: Clock, { at, ...event }: NewEvent, id?: string): OutboxEvent => {
  const now = clock.now()
  return {
    caused_by: currentCause(),
    ...event,
    data: JSON.stringify(event.data),
    trace: traceAbout(event.trace),
    ...stampOf(id ?? newId('event', at ?? now)),
    due_at: now + OVERDUE_GRACE,
  }
}

/**
 * Returns the write that emits an event. Commit it in the transaction of the change that it reports.
 * @param id id that the changed record knows it by
 */
export const emitEvent = <Type extends string>(clock: Clock, event: NewEvent<Type>, id?: string): Write =>
  OutboxEntity.create(newEvent(clock, event, id))

/** Returns true for an event that all of its consumers have. */
export const isSettled = ({ due_at }: OutboxEvent): boolean => due_at === undefined

/** Returns the event that a write emits, if it emits one. */
export const emittedBy = ({ entity, kind, item }: Pick<Write, 'entity' | 'kind' | 'item'>): OutboxEvent | undefined =>
  entity.name === OutboxEntity.name && kind === 'put' ? (item as unknown as OutboxEvent) : undefined

/** Returns the same write of an event that its maker carries (foundation/README.md). */
export const carried = (write: Write): Write => ({ ...write, item: { ...write.item, carried: true } })

/** Returns the envelope of an event for webhooks and polling. */
export const envelopeOf = (event: OutboxEvent): EventEnvelope => ({
  id: event.id,
  type: event.type,
  created_at: iso(event.created_at),
  workspace_id: event.workspace_id,
  data: JSON.parse(event.data),
  ...(event.test && { test: true }),
})
