import { wakePushes } from '#shared/agents/a2a/index.ts'
import { isSettled, OutboxEntity, type OutboxEvent } from '#shared/foundation/outbox/index.ts'
import { announceChange, isWatched, topicsOf, wakePages } from '#shared/foundation/updates/index.ts'
import type { WorkerWork } from '#shared/foundation/work/index.ts'
import { continueTrace } from '#shared/kernel/tracing/scope.ts'
import { ifUnchanged } from '#shared/table/entity.ts'
import { createdEventId, isRunEnd } from '#shared/work/runs/index.ts'
import { definitionOf } from '../catalogue/catalogue.ts'
import { loadAudience } from '../feed/audience.ts'
import { appendToFeed } from '../feed/feed.ts'
import { startTriggered } from '../triggers/index.ts'
import { sendFirstAttempts, startWithLease } from '../webhooks/first-attempts.ts'
import { recoverDeliveries } from '../webhooks/recover.ts'
import { wakeDeliveries } from '../webhooks/redeliver.ts'
import { listSubscribed, scheduleDeliveries } from '../webhooks/schedule.ts'

/** Feeds written in parallel for one event of a whole workspace. */
const AT_ONCE = 10

/**
 * Delivers an event to everyone who sees it: first to their feeds, then to their webhook subscriptions. Every part is
 * idempotent. The event leaves the list of due work only when all parts are done. A worker may therefore die at any
 * point, and any number of workers may be woken for the same event.
 * @param ahead reads that were begun before
 */
export const fanOutEvent = async (work: WorkerWork, eventId: string, ahead?: ReadAhead): Promise<void> => {
  const event = await work.table.get(OutboxEntity, { id: eventId })
  if (!event || isSettled(event)) return
  continueTrace(event.trace)
  await fanOut(work, { event, ahead })
}

/** An event to deliver. */
export interface Delivering {
  event: OutboxEvent
  /** Further work that has to finish before the event is no longer due. */
  rest?: Promise<unknown>
  ahead?: ReadAhead | undefined
}

/** The first reads of a fan-out, begun before it. */
export interface ReadAhead {
  audience: Promise<string[]>
  watched: Promise<boolean>
}

/**
 * Begins to read what the fan-out of an event reads first, in a turn with other reads, so that one call reads all of it. The change
 * that the event reports must be committed.
 */
export const readAhead = (work: WorkerWork, event: OutboxEvent): ReadAhead => {
  const audience = loadAudience(work, event)
  const watched = isWatched(work, event.workspace_id)
  // The fan-out that awaits them may never begin.
  for (const read of [audience, watched]) read.catch(() => {})
  return { audience, watched }
}

/** Delivers an event that is due. Before the end of a run comes its start, unless all of its consumers have it. */
export const fanOut = async (work: WorkerWork, delivering: Delivering): Promise<void> => {
  const start = isRunEnd(delivering.event) ? await loadStart(work, delivering.event) : undefined
  await Promise.all([start && deliverEvent(work, { event: start }), deliverEvent(work, delivering)])
}

const loadStart = async ({ table }: WorkerWork, { data }: OutboxEvent): Promise<OutboxEvent | undefined> => {
  const { run_id } = JSON.parse(data) as { run_id: string }
  const start = await table.get(OutboxEntity, { id: createdEventId(run_id) })
  return start && !isSettled(start) ? start : undefined
}

const deliverEvent = async (work: WorkerWork, delivering: Delivering): Promise<void> => {
  const { event, ahead } = delivering
  const [, audience] = await Promise.all([
    react(work, event, ahead?.watched),
    ahead?.audience ?? loadAudience(work, event),
  ])
  const rest = Promise.all([delivering.rest, ...audience.map((id) => startTriggered(work, id, event))])
  // The deliveries await it, but there may be none.
  rest.catch(() => {})
  const isOnly = audience.length === 1
  const states: DeliveryState[] = []
  for (let i = 0; i < audience.length; i += AT_ONCE) {
    const together = audience.slice(i, i + AT_ONCE)
    states.push(...(await Promise.all(together.map((id) => deliverTo(work, id, { event, rest }, isOnly)))))
  }
  await rest
  if (states.every((state) => state === 'delivered')) await settle(work, event)
}

/** Runs the platform's own reaction to an event. */
const react = async (work: WorkerWork, event: OutboxEvent, watched?: Promise<boolean>): Promise<void> => {
  if (event.type === 'delivery.requested') await wakeDeliveries(work, event)
  if (event.type === 'delivery.recovery') await recoverDeliveries(work, event)
  if (event.pushes) await wakePushes(work, JSON.parse(event.data).run_id)
  const viewers = { workspace_id: event.workspace_id, user_id: event.private_to }
  if (event.type === 'pages.changed') await wakePages(work, viewers)
  await announceChange(work, viewers, event.test ? [] : topicsOf(event.type), watched)
}

/**
 * State of an event after it was delivered to an installation: it has to be settled, it was, or the workers of its deliveries
 * settle it.
 */
type DeliveryState = 'delivered' | 'settled' | 'sending'

/**
 * Appends the event to a feed, and then schedules its deliveries.
 * @param isOnly no other installation sees the event
 */
const deliverTo = async (
  work: WorkerWork,
  installationId: string,
  { event, rest }: Delivering,
  isOnly: boolean,
): Promise<DeliveryState> => {
  const isOwn = isOnly && event.installation_id === installationId
  let isSending = false
  const schedule = async (n?: number) => {
    const subscribed = await listSubscribed(work, installationId, event)
    const isFirst = isOwn && startWithLease(work, event, subscribed)
    // The deliveries' workers settle the event, so all else has to be done before.
    if (isFirst) await rest
    // Otherwise the worker that appended the event sends them.
    if (isFirst && n !== undefined) await sendFirstAttempts(work, event, subscribed, n)
    if (!isFirst) await scheduleDeliveries(work, event, subscribed)
    await rest
    isSending = isFirst
    return !isFirst
  }
  const finish = isOwn ? schedule : undefined
  const finished = await appendToFeed(work.table, installationId, { event, finish })
  if (!finished) await schedule()
  if (isSending) return 'sending'
  return finished ? 'settled' : 'delivered'
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
