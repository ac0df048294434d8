import type { OutboxEvent } from '../../entities/events.ts'
import { type Delivery, DeliveryEntity, type Subscription } from '../../entities/webhooks.ts'
import { EVENTS } from '../../events/catalogue.ts'
import { GRACE, tell } from '../../events/outbox.ts'
import { fail } from '../../kernel/errors.ts'
import type { Write } from '../../table/entity.ts'
import { missing } from '../../table/expressions.ts'
import type { Work, WorkerWork } from '../deps.ts'
import { requireEnabled } from './enable.ts'
import { presentDelivery } from './present.ts'
import { loadDelivery, loadWebhook } from './read.ts'
import { wake } from './schedule.ts'
import type { DeliveryView } from './schemas.ts'

/** A delivery as it is when a new round of the retry schedule begins: its first attempt is due now. */
export const beginRound = (delivery: Delivery, webhook: Subscription, now: number, recovery_id?: string): Delivery => ({
  ...delivery,
  status: 'pending',
  round_start: delivery.attempt,
  generation: webhook.generation,
  next_attempt_at: now,
  due_at: now + GRACE,
  recovery_id,
})

/** The write of it, unless somebody else changed the delivery meanwhile. */
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

/** True while a worker is sending it. */
export const isLeased = (delivery: Delivery, now: number): boolean =>
  delivery.status === 'pending' && (delivery.leased_until ?? 0) > now

/**
 * Sends a delivery again, whatever became of it: at once, and then by the whole retry schedule.
 * @throws `not_found`; `conflict` while the subscription is disabled or the delivery is being sent
 */
export const redeliver = async (
  work: Work,
  installation_id: string,
  webhookId: string,
  deliveryId: string,
): Promise<DeliveryView> => {
  const webhook = requireEnabled(await loadWebhook(work, installation_id, webhookId))
  const delivery = await loadDelivery(work, webhook, deliveryId)
  const now = work.clock.now()
  const busy = () =>
    fail('conflict', { message: 'The delivery is being sent at this moment.', fix: 'Read it again in some seconds.' })
  if (isLeased(delivery, now)) throw busy()
  const again = beginRound(delivery, webhook, now)
  const view = presentDelivery(again, webhook)
  await work.commit(
    [
      roundWrite(delivery, again, busy),
      tell(work.clock, {
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

/** Wakes the workers for deliveries of which a round was begun. */
export const wakeDeliveries = async (work: WorkerWork, event: OutboxEvent): Promise<void> => {
  const { webhook_id, delivery_ids } = EVENTS['delivery.requested'].data().parse(JSON.parse(event.data))
  const deliveries = await work.table.getAll(
    delivery_ids.map((id) => ({ entity: DeliveryEntity, key: DeliveryEntity.key({ webhook_id, id }) })),
  )
  const waiting = deliveries.filter((delivery) => delivery?.status === 'pending') as Delivery[]
  if (waiting.length === 0) return
  await work.queues.send(
    'delivery',
    waiting.map((delivery) => wake(delivery)),
  )
}
