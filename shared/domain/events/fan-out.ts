import { OutboxEntity, type OutboxEvent } from '../../entities/events.ts'
import { definitionOf } from '../../events/catalogue.ts'
import { ifUnchanged } from '../../table/entity.ts'
import type { WorkerWork } from '../deps.ts'
import { markChanged, topicsOf } from '../updates/mark.ts'
import { recoverDeliveries } from '../webhooks/recover.ts'
import { wakeDeliveries } from '../webhooks/redeliver.ts'
import { scheduleDeliveries } from '../webhooks/schedule.ts'
import { audienceOf } from './audience.ts'
import { appendToFeed } from './feed.ts'

/** Feeds written at the same time for one event of a whole workspace. */
const AT_ONCE = 10

/**
 * Brings an event to all who see it: into their feeds, then to their webhook subscriptions. Each part can be repeated
 * without doing anything twice, and only when all of it is done does the event leave the list of what is due: so a worker
 * may die between any two lines, and any number may be woken for the same event.
 */
export const fanOut = async (work: WorkerWork, eventId: string): Promise<void> => {
  const event = await work.table.get(OutboxEntity, { id: eventId })
  if (event?.due_at === undefined) return
  await actOn(work, event)
  const audience = await audienceOf(work, event)
  for (let i = 0; i < audience.length; i += AT_ONCE) {
    await Promise.all(audience.slice(i, i + AT_ONCE).map((installationId) => bring(work, installationId, event)))
  }
  await settle(work, event)
}

/** What the platform itself does about an event. */
const actOn = async (work: WorkerWork, event: OutboxEvent): Promise<void> => {
  if (event.type === 'delivery.requested') await wakeDeliveries(work, event)
  if (event.type === 'delivery.recovery') await recoverDeliveries(work, event)
  await markChanged(work, event.workspace_id, event.test ? [] : topicsOf(event.type))
}

const bring = async (work: WorkerWork, installationId: string, event: OutboxEvent): Promise<void> => {
  await appendToFeed(work.table, installationId, event)
  await scheduleDeliveries(work, installationId, event)
}

/** What only woke the platform's own workers, whose messages carry all of it, is kept no longer: somebody's chat may be in it. */
const settle = async (work: WorkerWork, event: OutboxEvent): Promise<void> => {
  const settled = isRead(event)
    ? OutboxEntity.update(event, { set: { due_at: undefined } })
    : OutboxEntity.delete(event)
  // Or it has expired meanwhile.
  await ifUnchanged(work.commit([settled]))
}

/** A page of a recovery is told under an id that follows from the one before; its record keeps it from being told twice. */
const isRead = ({ type }: OutboxEvent): boolean =>
  definitionOf(type)?.audience !== 'internal' || type === 'delivery.recovery'
