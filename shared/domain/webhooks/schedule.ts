import type { OutboxEvent } from '../../entities/events.ts'
import { type Delivery, DeliveryEntity, type Subscription, SubscriptionEntity } from '../../entities/webhooks.ts'
import { matches } from '../../events/catalogue.ts'
import { GRACE } from '../../events/outbox.ts'
import type { DeliveryMessage } from '../../events/queues.ts'
import { derivedId } from '../../kernel/ids.ts'
import { LIMITS } from '../../kernel/limits.ts'
import { ConditionFailed } from '../../table/entity.ts'
import type { WorkerWork } from '../deps.ts'

/** The message that wakes a worker for a delivery's next attempt. Its group keeps a noisy subscription behind itself. */
export const wake = (delivery: Delivery, delayMs = 0): { body: DeliveryMessage; delayMs: number; group: string } => ({
  body: {
    delivery_id: delivery.id,
    webhook_id: delivery.webhook_id,
    installation_id: delivery.installation_id,
    workspace_id: delivery.workspace_id,
    app_id: delivery.app_id,
    event_id: delivery.event_id,
    attempt: delivery.attempt + 1,
  },
  delayMs,
  group: delivery.webhook_id,
})

/** A delivery that was never tried. */
export const newDelivery = (
  webhook: Subscription,
  event: OutboxEvent,
  { id, now }: { id: string; now: number },
): Delivery => ({
  id,
  webhook_id: webhook.id,
  installation_id: webhook.installation_id,
  workspace_id: webhook.workspace_id,
  app_id: webhook.app_id,
  event_id: event.id,
  event_type: event.type,
  attempt: 0,
  round_start: 0,
  generation: webhook.generation,
  attempts: [],
  created_at: event.created_at,
  ...(webhook.status === 'active'
    ? { status: 'pending', next_attempt_at: now, due_at: now + GRACE }
    : // Kept, so that it can be recovered after enabling.
      { status: 'skipped', next_attempt_at: null }),
})

/**
 * Makes the deliveries of an event to an installation's subscriptions, and wakes the workers. A delivery's id follows
 * from the event and the subscription, so that doing it again makes no second one, and wakes again what still waits.
 */
export const scheduleDeliveries = async (
  work: WorkerWork,
  installation_id: string,
  event: OutboxEvent,
): Promise<void> => {
  // The test request sends by itself, whatever the masks say.
  if (event.type === 'webhook.test' && !event.test) return
  const { items } = await work.table.query(
    SubscriptionEntity,
    { installation_id },
    { limit: LIMITS.webhooksPerInstallation },
  )
  const subscribed = items.filter(({ events }) => matches(events, event.type))
  const deliveries = await Promise.all(subscribed.map((webhook) => createIfMissing(work, webhook, event)))
  const waiting = deliveries.filter(({ status }) => status === 'pending')
  if (waiting.length === 0) return
  await work.queues.send(
    'delivery',
    waiting.map((delivery) => wake(delivery)),
  )
}

const createIfMissing = async (work: WorkerWork, webhook: Subscription, event: OutboxEvent): Promise<Delivery> => {
  const id = derivedId('delivery', event.created_at, event.id + webhook.id)
  const delivery = newDelivery(webhook, event, { id, now: work.clock.now() })
  try {
    await work.commit([DeliveryEntity.create(delivery)])
    return delivery
  } catch (error) {
    if (error instanceof ConditionFailed && error.current) return error.current as Delivery
    throw error
  }
}
