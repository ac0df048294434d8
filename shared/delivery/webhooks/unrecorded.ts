import { OutboxEntity, type OutboxEvent, OVERDUE_GRACE } from '#shared/foundation/outbox/index.ts'
import type { WorkerWork } from '#shared/foundation/work/index.ts'
import { SECOND } from '#shared/kernel/clock.ts'
import { ifUnchanged } from '#shared/table/entity.ts'
import { DeliveryEntity, type Subscription } from './entity.ts'
import type { DeliveryMessage } from './message.ts'
import { deliveryIdOf, newDelivery, wakeMessage } from './schedule.ts'

/**
 * Time after an event's creation in which the first attempt of an unrecorded delivery may start. The attempt then ends before
 * the event is overdue, and nobody else sends the delivery meanwhile.
 */
const START_WITHIN = OVERDUE_GRACE - 30 * SECOND

/** Deliveries of one event that may be unrecorded. With more, checking each other's records costs more than having one. */
const MOST = 3

/**
 * Returns true if an event's deliveries need no records before their first attempts. The event stays due until those were
 * recorded, so a lost message is noticed, and the message is the lease, because one worker at a time works on it. This saves
 * three of eight units of a delivery.
 *
 * Only for a carried event: whoever appends it to the feed delivers it, and everybody else leaves it alone until it is overdue.
 */
export const mayBeUnrecorded = (
  { carried, last_for, test, created_at }: OutboxEvent,
  subscribed: readonly Subscription[],
  now: number,
): boolean =>
  carried === true &&
  now < created_at + OVERDUE_GRACE &&
  last_for === undefined &&
  !test &&
  subscribed.length > 0 &&
  subscribed.length <= MOST &&
  subscribed.every(({ status, max_per_minute }) => status === 'active' && max_per_minute === undefined)

/** Wakes workers for the first attempts of an event's unrecorded deliveries. */
export const sendUnrecorded = async (
  work: WorkerWork,
  event: OutboxEvent,
  subscribed: readonly Subscription[],
): Promise<void> => {
  const now = work.clock.now()
  const unrecorded = subscribed.map(({ id }) => id)
  const messages = subscribed.map((webhook) => {
    const message = wakeMessage(newDelivery(webhook, event, { id: deliveryIdOf(event, webhook.id), now }))
    return { ...message, body: { ...message.body, unrecorded } }
  })
  await work.queues.send('delivery', messages)
}

/** Returns true while the first attempt of an unrecorded delivery may start. */
export const mayStart = ({ created_at }: OutboxEvent, now: number): boolean => now < created_at + START_WITHIN

/** Settles an event whose deliveries were unrecorded, once all of them have records. */
export const settleIfRecorded = async (
  work: WorkerWork,
  event: OutboxEvent,
  { webhook_id, unrecorded = [] }: DeliveryMessage,
): Promise<void> => {
  const others = unrecorded.filter((id) => id !== webhook_id)
  const refs = others.map((id) => DeliveryEntity.ref({ webhook_id: id, id: deliveryIdOf(event, id) }))
  if ((await work.table.getAll(refs)).includes(undefined)) return
  // Once it is overdue, the fan-out settles it.
  const where = { due_at: event.due_at }
  await ifUnchanged(work.commit([OutboxEntity.update(event, { set: { due_at: undefined } }, { where })]))
}
