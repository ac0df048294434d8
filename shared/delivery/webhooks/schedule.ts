import { matchesMask, type OutboxEvent, OVERDUE_GRACE } from '#shared/foundation/outbox/index.ts'
import type { WorkerWork } from '#shared/foundation/work/index.ts'
import { derivedId, stampOf } from '#shared/kernel/ids.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { ConditionFailed, ifUnchanged } from '#shared/table/entity.ts'
import { missing } from '#shared/table/expressions.ts'
import { type Delivery, DeliveryEntity, type Subscription, SubscriptionEntity } from './entity.ts'
import { matchesFilter } from './filter.ts'
import type { DeliveryMessage } from './message.ts'

/**
 * Builds the message that wakes a worker for a delivery's next attempt. Its group makes a noisy subscription wait only
 * behind itself.
 */
export const wakeMessage = (
  delivery: Delivery,
  delayMs = 0,
): { body: DeliveryMessage; delayMs: number; group: string } => ({
  body: {
    kind: 'delivery',
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

/** Builds a delivery without attempts. */
export const newDelivery = (
  webhook: Subscription,
  event: OutboxEvent,
  { id, now }: { id: string; now: number },
): Delivery => ({
  ...stampOf(id),
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
  ...(webhook.status === 'active' || isEndedWith(event, webhook)
    ? { status: 'pending', next_attempt_at: now, due_at: now + OVERDUE_GRACE }
    : // Stored, so that it can be recovered after the subscription is enabled.
      { status: 'skipped', next_attempt_at: null }),
})

/** Reports whether the subscription ended with the installation whose last event this is, and not before. */
const isEndedWith = ({ last_for, created_at }: OutboxEvent, { installation_id, disabled_at }: Subscription): boolean =>
  last_for === installation_id && disabled_at !== null && disabled_at >= created_at

/**
 * Creates the deliveries of an event to subscriptions and wakes the workers. A delivery's id derives from the event and the
 * subscription. Repeating the call therefore creates no duplicates and wakes workers for pending deliveries again.
 */
export const scheduleDeliveries = async (
  work: WorkerWork,
  event: OutboxEvent,
  subscribed: readonly Subscription[],
): Promise<void> => {
  const deliveries = await Promise.all(subscribed.map((webhook) => createIfMissing(work, webhook, event)))
  const waiting = deliveries.filter(({ status }) => status === 'pending')
  if (waiting.length === 0) return
  await work.queues.send(
    'delivery',
    waiting.map((delivery) => wakeMessage(delivery)),
  )
}

/**
 * Lists the subscriptions of an installation that get an event. Its last event goes to every subscription, whatever its masks
 * say: the app must learn that it was uninstalled or its access withdrawn.
 */
export const listSubscribed = async (
  { table }: Pick<WorkerWork, 'table'>,
  installation_id: string,
  event: OutboxEvent,
): Promise<Subscription[]> => {
  // The test request sends its event itself, whatever the masks say.
  if (event.type === 'webhook.test' && !event.test) return []
  const { items } = await table.query(
    SubscriptionEntity,
    { installation_id },
    { limit: LIMITS.webhooksPerInstallation },
  )
  const isLast = event.last_for === installation_id
  const data: unknown = items.some(({ filter }) => filter) ? JSON.parse(event.data) : undefined
  return items.filter(
    ({ events, filter }) => isLast || (matchesMask(events, event.type) && matchesFilter(filter, data)),
  )
}

/** Returns true for a delivery whose first attempt isn't recorded. Its event is due instead of it. */
export const isFirstLease = ({ status, due_at }: Delivery): boolean => status === 'pending' && due_at === undefined

/** Returns the id of an event's delivery to a subscription. */
export const deliveryIdOf = ({ id, created_at }: OutboxEvent, webhookId: string): string =>
  derivedId('delivery', created_at, id + webhookId)

/** Creates a delivery's record. @returns the one that exists, if there is one, which becomes due unless it has ended */
export const createIfMissing = async (
  work: WorkerWork,
  webhook: Subscription,
  event: OutboxEvent,
): Promise<Delivery> => {
  const id = deliveryIdOf(event, webhook.id)
  const delivery = newDelivery(webhook, event, { id, now: work.clock.now() })
  try {
    await work.commit([DeliveryEntity.create(delivery)])
    return delivery
  } catch (error) {
    if (!(error instanceof ConditionFailed) || !error.current) throw error
    const current = error.current as Delivery
    if (!isFirstLease(current)) return current
    // A worker that died during the first attempt, or one that is still at it, created it.
    const set = { due_at: work.clock.now() + OVERDUE_GRACE }
    await ifUnchanged(
      work.commit([DeliveryEntity.update(current, { set }, { where: { status: 'pending', due_at: missing } })]),
    )
    return { ...current, ...set }
  }
}
