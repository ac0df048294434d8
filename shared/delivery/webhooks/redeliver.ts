import { emitEvent, type OutboxEvent, OVERDUE_GRACE } from '#shared/foundation/outbox/index.ts'
import type { Work, WorkerWork } from '#shared/foundation/work/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import type { Write } from '#shared/table/entity.ts'
import { missing } from '#shared/table/expressions.ts'
import { EVENTS } from '../catalogue/catalogue.ts'
import type { DeliveryEventType } from '../catalogue/delivery-events.ts'
import { requireReadable } from '../catalogue/readable.ts'
import { requireEnabled } from './change.ts'
import type { Subscriber } from './create.ts'
import { type Delivery, DeliveryEntity, type Subscription } from './entity.ts'
import { presentDelivery } from './present.ts'
import { loadDelivery, loadWebhook } from './read.ts'
import { wakeMessage } from './schedule.ts'
import type { DeliveryView } from './schemas.ts'

/** Returns the delivery at the start of a new round of the retry schedule. Its first attempt is due now. */
export const beginRound = (delivery: Delivery, webhook: Subscription, now: number, recovery_id?: string): Delivery => ({
  ...delivery,
  status: 'pending',
  round_start: delivery.attempt,
  generation: webhook.generation,
  next_attempt_at: now,
  due_at: now + OVERDUE_GRACE,
  recovery_id,
})

/** Returns the write that starts the round, unless the delivery has changed in the meantime. */
export const roundWrite = (before: Delivery, after: Delivery, otherwise?: () => unknown): Write =>
  DeliveryEntity.update(
    before,
    {
      set: {
        status: after.status,
        round_start: after.round_start,
        generation: after.generation,
        next_attempt_at: after.next_attempt_at,
        due_at: after.due_at,
        recovery_id: after.recovery_id,
        leased_until: undefined,
        lost_leases: undefined,
        skipped_at: undefined,
      },
    },
    {
      where: {
        status: before.status,
        attempt: before.attempt,
        round_start: before.round_start,
        leased_until: before.leased_until ?? missing,
      },
      ...(otherwise && { otherwise }),
    },
  )

/** Returns true while a worker is sending the delivery. */
export const isLeased = (delivery: Delivery, now: number): boolean =>
  delivery.status === 'pending' && (delivery.leased_until ?? 0) > now

/**
 * Sends a delivery again, whatever its status: at once, and then on the full retry schedule.
 * @throws `not_found`; `insufficient_scope` for an event that may no longer be read; `conflict` while the subscription is disabled or the delivery is being sent
 */
export const redeliver = async (
  work: Work,
  { installation, ...holder }: Subscriber,
  webhookId: string,
  deliveryId: string,
): Promise<DeliveryView> => {
  const installation_id = installation.id
  const webhook = requireEnabled(await loadWebhook(work, installation_id, webhookId))
  const delivery = await loadDelivery(work, webhook, deliveryId)
  requireReadable([delivery.event_type], holder)
  const now = work.clock.now()
  const busy = () =>
    fail('conflict', {
      message: 'The delivery is being sent right now.',
      fix: 'Read the delivery again in a few seconds.',
    })
  if (isLeased(delivery, now)) throw busy()
  const again = beginRound(delivery, webhook, now)
  const view = presentDelivery(again, webhook)
  await work.commit(
    [
      roundWrite(delivery, again, busy),
      emitEvent<DeliveryEventType>(work.clock, {
        type: 'delivery.requested',
        workspace_id: webhook.workspace_id,
        installation_id,
        app_id: webhook.app_id,
        data: { installation_id, webhook_id: webhook.id, delivery_ids: [delivery.id] },
      }),
    ],
    view,
  )
  return view
}

/** Wakes the workers for deliveries with a newly started round. */
export const wakeDeliveries = async (work: WorkerWork, event: OutboxEvent): Promise<void> => {
  const { webhook_id, delivery_ids } = EVENTS['delivery.requested'].data().parse(JSON.parse(event.data))
  const deliveries = await work.table.getAll(delivery_ids.map((id) => DeliveryEntity.ref({ webhook_id, id })))
  const waiting = deliveries.filter((delivery) => delivery?.status === 'pending') as Delivery[]
  if (waiting.length === 0) return
  await work.queues.send(
    'delivery',
    waiting.map((delivery) => wakeMessage(delivery)),
  )
}
