import { OutboxEntity, type OutboxEvent, OVERDUE_GRACE } from '#shared/foundation/outbox/index.ts'
import type { WorkerWork } from '#shared/foundation/work/index.ts'
import { SECOND } from '#shared/kernel/clock.ts'
import { ifUnchanged } from '#shared/table/entity.ts'
import { either, gte, missing, oneOf } from '#shared/table/expressions.ts'
import { DeliveryEntity, type Subscription } from './entity.ts'
import type { DeliveryMessage } from './message.ts'
import { deliveryIdOf, isFirstLease, newDelivery, wakeMessage } from './schedule.ts'

/**
 * Time after an event's creation in which a worker may create a delivery with its lease. The attempt then ends before the event is
 * overdue, and no other worker sends the delivery until then.
 */
const START_WITHIN = OVERDUE_GRACE - 30 * SECOND

/** Deliveries of one event that are created with their leases. With more, checking each other's records costs more than it saves. */
const MOST = 3

/**
 * Returns true if the deliveries of an event of one installation get their records with their first leases. The event stays due
 * until the outcome of each first attempt is recorded, so a lost message is noticed, and the deliveries needn't be due meanwhile.
 *
 * The worker that appends the event to the feed sends the messages, and others leave the event alone until it is overdue.
 */
export const startWithLease = (
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
 * Wakes workers for the first attempts of an event's deliveries, which have no records yet.
 * @param feed_n the event's number in the feed, which the worker that settles the event records
 */
export const sendFirstAttempts = async (
  work: WorkerWork,
  event: OutboxEvent,
  subscribed: readonly Subscription[],
  feed_n: number,
): Promise<void> => {
  const now = work.clock.now()
  const first = { webhooks: subscribed.map(({ id }) => id), feed_n }
  const messages = subscribed.map((webhook) => {
    const message = wakeMessage(newDelivery(webhook, event, { id: deliveryIdOf(event, webhook.id), now }))
    return { ...message, body: { ...message.body, first } }
  })
  await work.queues.send('delivery', messages)
}

/** Returns true while a worker may create a delivery with its lease. */
export const mayStart = ({ created_at }: OutboxEvent, now: number): boolean => now < created_at + START_WITHIN

/** Settles an event once the first attempts of its deliveries are recorded, or those are due themselves, and records its position. */
export const settleIfRecorded = async (
  work: WorkerWork,
  event: OutboxEvent,
  webhookId: string,
  { webhooks, feed_n }: NonNullable<DeliveryMessage['first']>,
): Promise<void> => {
  const others = webhooks.filter((id) => id !== webhookId)
  const refs = others.map((id) => DeliveryEntity.ref({ webhook_id: id, id: deliveryIdOf(event, id) }))
  const records = await work.table.getAll(refs)
  if (records.some((record) => record === undefined || isFirstLease(record))) return
  // Once it is overdue, the fan-out settles it.
  const where = { due_at: either(missing, gte(work.clock.now())), feed_n: either(missing, oneOf(feed_n)) }
  await ifUnchanged(work.commit([OutboxEntity.update(event, { set: { due_at: undefined, feed_n } }, { where })]))
}
