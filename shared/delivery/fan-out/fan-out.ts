import { OutboxEntity, type OutboxEvent } from '#shared/foundation/outbox/index.ts'
import { announceChange, topicsOf, wakePages } from '#shared/foundation/updates/index.ts'
import type { WorkerWork } from '#shared/foundation/work/index.ts'
import { continueTrace } from '#shared/kernel/tracing/scope.ts'
import { ifUnchanged } from '#shared/table/entity.ts'
import { definitionOf } from '../catalogue/catalogue.ts'
import { loadAudience } from '../feed/audience.ts'
import { appendToFeed } from '../feed/feed.ts'
import { recoverDeliveries } from '../webhooks/recover.ts'
import { wakeDeliveries } from '../webhooks/redeliver.ts'
import { scheduleDeliveries } from '../webhooks/schedule.ts'

/** Feeds written in parallel for one event of a whole workspace. */
const AT_ONCE = 10

/**
 * Delivers an event to everyone who sees it: first to their feeds, then to their webhook subscriptions. Every part is
 * idempotent. The event leaves the list of due work only when all parts are done. A worker may therefore die at any
 * point, and any number of workers may be woken for the same event.
 */
export const fanOutEvent = async (work: WorkerWork, eventId: string): Promise<void> => {
  const event = await work.table.get(OutboxEntity, { id: eventId })
  if (event?.due_at === undefined) return
  continueTrace(event.trace)
  await react(work, event)
  const audience = await loadAudience(work, event)
  for (let i = 0; i < audience.length; i += AT_ONCE) {
    await Promise.all(audience.slice(i, i + AT_ONCE).map((installationId) => deliverTo(work, installationId, event)))
  }
  await settle(work, event)
}

/** Runs the platform's own reaction to an event. */
const react = async (work: WorkerWork, event: OutboxEvent): Promise<void> => {
  if (event.type === 'delivery.requested') await wakeDeliveries(work, event)
  if (event.type === 'delivery.recovery') await recoverDeliveries(work, event)
  const viewers = { workspace_id: event.workspace_id, user_id: event.private_to }
  if (event.type === 'pages.changed') await wakePages(work, viewers)
  await announceChange(work, viewers, event.test ? [] : topicsOf(event.type))
}

const deliverTo = async (work: WorkerWork, installationId: string, event: OutboxEvent): Promise<void> => {
  await appendToFeed(work.table, installationId, event)
  await scheduleDeliveries(work, installationId, event)
}

/**
 * Deletes an event that only woke the platform's own workers. Their messages carry all of its data, which may include
 * conversation text.
 */
const settle = async (work: WorkerWork, event: OutboxEvent): Promise<void> => {
  const settled = isRead(event)
    ? OutboxEntity.update(event, { set: { due_at: undefined } })
    : OutboxEntity.delete(event)
  // The event may also have expired in the meantime.
  await ifUnchanged(work.commit([settled]))
}

/**
 * Returns true if the record is still read after fan-out. A recovery page's event is kept because its id derives from
 * the page before it: the record prevents a second emission.
 */
const isRead = ({ type }: OutboxEvent): boolean =>
  definitionOf(type)?.audience !== 'internal' || type === 'delivery.recovery'
