import { OutboxEntity, type OutboxEvent, OVERDUE_GRACE } from '#shared/foundation/outbox/index.ts'
import type { WorkerWork } from '#shared/foundation/work/index.ts'
import { SECOND } from '#shared/kernel/clock.ts'
import { ifUnchanged } from '#shared/table/entity.ts'
import { either, gte, missing, oneOf } from '#shared/table/expressions.ts'
import { settleRunOf } from '#shared/work/runs/index.ts'
import { DeliveryEntity, type Subscription } from './entity.ts'
import type { DeliveryMessage } from './message.ts'
import { deliveryIdOf, isHeldByEvent, newDelivery, wakeMessage } from './schedule.ts'

/**
 * Time after an event's creation in which the first attempt of an unrecorded delivery may start. The attempt then ends before
 * the event is overdue, and nobody else sends the delivery until then.
 */
const START_WITHIN = OVERDUE_GRACE - 30 * SECOND

/** Deliveries of one event that may be unrecorded. With more, checking each other's records costs more than having one. */
const MOST = 3

/**
 * Returns true if the deliveries of an event of one installation need no records before their first attempts. The event stays
 * due until those were recorded, so a lost message is noticed. The worker that gets the message creates the record: with its
 * lease, which saves three of eight units of a delivery, or for a carried event with the outcome, which saves four. The
 * message of that is the lease, because a queue gives it to one worker at a time, with rare exceptions.
 *
 * The worker that appends the event to the feed delivers it, and others leave it alone until it is overdue.
 */
export const mayBeUnrecorded = (
  { clock }: Pick<WorkerWork, 'clock'>,
  { last_for, test, created_at }: OutboxEvent,
  subscribed: readonly Subscription[],
): boolean =>
  clock.now() < created_at + OVERDUE_GRACE &&
  last_for === undefined &&
  !test &&
  subscribed.length > 0 &&
  subscribed.length <= MOST &&
  subscribed.every(({ status, max_per_minute }) => status === 'active' && max_per_minute === undefined)

/**
 * Wakes workers for the first attempts of an event's unrecorded deliveries.
 * @param n the event's number in the feed, which the worker that settles the event records
 */
export const sendUnrecorded = async (
  work: WorkerWork,
  event: OutboxEvent,
  subscribed: readonly Subscription[],
  n: number,
): Promise<void> => {
  const now = work.clock.now()
  const unrecorded = subscribed.map(({ id }) => id)
  const messages = subscribed.map((webhook) => {
    const message = wakeMessage(newDelivery(webhook, event, { id: deliveryIdOf(event, webhook.id), now }))
    return { ...message, body: { ...message.body, unrecorded, feed_n: n } }
  })
  await work.queues.send('delivery', messages)
}

/** Returns true while the first attempt of an unrecorded delivery may start. */
export const mayStart = ({ created_at }: OutboxEvent, now: number): boolean => now < created_at + START_WITHIN

/** Settles an event whose deliveries were unrecorded, once all of them have ended or are due, and records its position in the feed. */
export const settleIfRecorded = async (
  work: WorkerWork,
  event: OutboxEvent,
  { webhook_id, unrecorded = [], feed_n }: DeliveryMessage,
): Promise<void> => {
  const others = unrecorded.filter((id) => id !== webhook_id)
  const refs = others.map((id) => DeliveryEntity.ref({ webhook_id: id, id: deliveryIdOf(event, id) }))
  const records = await work.table.getAll(refs)
  if (records.some((record) => record === undefined || isHeldByEvent(record))) return
  // Once it is overdue, the fan-out settles it.
  const isEarly = { due_at: either(missing, gte(work.clock.now())) }
  const where = { ...isEarly, ...(feed_n !== undefined && { feed_n: either(missing, oneOf(feed_n)) }) }
  const set = { due_at: undefined, is_held: undefined, ...(feed_n !== undefined && { feed_n }) }
  if (await ifUnchanged(work.commit([OutboxEntity.update(event, { set }, { where })]))) await settleRunOf(work, event)
}
