import type * as z from 'zod'
import { emitEvent, newEvent, OutboxEntity, type OutboxEvent } from '#shared/foundation/outbox/index.ts'
import type { Work, WorkerWork } from '#shared/foundation/work/index.ts'
import { MINUTE, SECOND } from '#shared/kernel/clock.ts'
import { derivedId } from '#shared/kernel/ids.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { ConditionFailed, ifUnchanged } from '#shared/table/entity.ts'
import { EVENTS } from '../catalogue/catalogue.ts'
import type { DeliveryEventType } from '../catalogue/delivery-events.ts'
import { requireEnabled } from './change.ts'
import { type Delivery, DeliveryEntity, type Subscription, SubscriptionEntity } from './entity.ts'
import { isOutdated, presentWebhook } from './present.ts'
import { deliveryKeyAt, loadWebhook } from './read.ts'
import { beginRound, isLeased, roundWrite } from './redeliver.ts'
import { wakeMessage } from './schedule.ts'
import type { RecoveringWebhookView } from './schemas.ts'

/** Deliveries examined per event. The next event handles the rest. */
const PAGE = 100
const AT_ONCE = 20

/**
 * Requests that all deliveries that failed or were skipped since a time are sent again, once each. Any number is fine:
 * workers process them page by page.
 * @param since epoch ms
 * @throws `not_found`; `conflict` while the subscription is disabled
 */
export const requestRecovery = async (
  work: Work,
  installation_id: string,
  webhookId: string,
  since: number,
): Promise<RecoveringWebhookView> => {
  const webhook = requireEnabled(await loadWebhook(work, installation_id, webhookId))
  const view = { ...presentWebhook(webhook), recovery: await countLost(work, webhook, since) }
  await work.commit(
    [
      emitEvent<DeliveryEventType>(work.clock, {
        type: 'delivery.recovery',
        workspace_id: webhook.workspace_id,
        installation_id,
        app_id: webhook.app_id,
        data: {
          installation_id,
          webhook_id: webhook.id,
          recovery_id: work.id('request'),
          since,
          until: work.clock.now(),
        },
      }),
    ],
    view,
  )
  return view
}

/** Deliveries counted for the response of a recovery. */
const COUNTED = 1_000

/** Counts the deliveries that a recovery will send again, up to a limit. */
const countLost = async (
  work: Work,
  webhook: Subscription,
  since: number,
): Promise<RecoveringWebhookView['recovery']> => {
  const until = work.clock.now()
  let deliveries = 0
  let examined = 0
  for (const older of [false, true]) {
    let after: string | undefined
    do {
      const page = await work.table.query(
        DeliveryEntity,
        { webhook_id: webhook.id },
        { limit: COUNTED - examined, ascending: true, after, ...bounds(work, { since, until, older }) },
      )
      deliveries += page.items.filter((delivery) => isLost(delivery, webhook, since, until)).length
      examined += page.items.length
      after = page.next
      if (examined >= COUNTED && (after !== undefined || !older)) return { deliveries, is_complete: false }
    } while (after !== undefined)
  }
  return { deliveries, is_complete: true }
}

const Recovery = EVENTS['delivery.recovery'].data

type Recovery = z.infer<ReturnType<typeof Recovery>>

/**
 * Handles one page of a recovery: starts a new round of each delivery that needs one, wakes the workers and emits the
 * event for the next page. Idempotent, because a delivery stores the id of the recovery that started its round.
 */
export const recoverDeliveries = async (work: WorkerWork, event: OutboxEvent): Promise<void> => {
  const recovery = Recovery().parse(JSON.parse(event.data))
  const { installation_id, webhook_id } = recovery
  const webhook = await work.table.get(SubscriptionEntity, { installation_id, id: webhook_id })
  // If the subscription was removed or disabled again, failed and skipped deliveries don't change.
  if (webhook?.status !== 'active') return
  const page = await work.table.query(
    DeliveryEntity,
    { webhook_id },
    { limit: PAGE, ascending: true, after: recovery.after, ...bounds(work, recovery) },
  )
  const waiting: Delivery[] = []
  for (let i = 0; i < page.items.length; i += AT_ONCE) {
    const some = page.items.slice(i, i + AT_ONCE)
    const begun = await Promise.all(some.map((delivery) => startRound(work, delivery, webhook, recovery)))
    waiting.push(...begun.filter((delivery) => delivery !== undefined))
  }
  if (waiting.length > 0) {
    await work.queues.send(
      'delivery',
      waiting.map((delivery) => wakeMessage(delivery)),
    )
  }
  if (page.next !== undefined) await emitNextPage(work, event, { ...recovery, after: page.next })
  else if (!recovery.older) await emitNextPage(work, event, { ...recovery, after: undefined, older: true })
}

/**
 * Returns the bounds of the deliveries to examine. Deliveries sort by their event's time, and one may fail a whole
 * retry schedule later, so the range starts that much earlier. Older deliveries follow later. They are few: their last
 * attempt belongs to a round that someone restarted.
 */
const bounds = (
  work: Pick<Work, 'settings' | 'clock'>,
  { since, until, older }: Pick<Recovery, 'since' | 'until' | 'older'>,
): { from: string; to: string } => {
  const { webhookRetryDelaysSeconds } = work.settings
  const schedule = webhookRetryDelaysSeconds.reduce((sum, delay) => sum + delay * SECOND + MINUTE, 0)
  const oldest = work.clock.now() - LIMITS.deliveryLife
  const from = Math.max(since - schedule, oldest)
  return older
    ? { from: deliveryKeyAt(oldest), to: deliveryKeyAt(from) }
    : { from: deliveryKeyAt(from), to: deliveryKeyAt(until + 1) }
}

/**
 * Starts a delivery's new round if it needs one.
 * @returns the delivery if a worker must be woken for it
 */
const startRound = async (
  work: WorkerWork,
  delivery: Delivery,
  webhook: Subscription,
  { recovery_id, since }: Recovery,
): Promise<Delivery | undefined> => {
  // This recovery already started the round. The message may have been lost.
  if (delivery.recovery_id === recovery_id) return delivery.status === 'pending' ? delivery : undefined
  const now = work.clock.now()
  if (!isLost(delivery, webhook, since, now)) return undefined
  const again = beginRound(delivery, webhook, now, recovery_id)
  try {
    await work.commit([roundWrite(delivery, again)])
    return again
  } catch (error) {
    // Another worker has changed the delivery.
    if (error instanceof ConditionFailed) return undefined
    throw error
  }
}

/** Returns true for a delivery that failed or was skipped since a time, and that no worker is sending. */
const isLost = (delivery: Delivery, webhook: Subscription, since: number, now: number): boolean => {
  const outdated = isOutdated(delivery, webhook)
  const lost = delivery.status === 'failed' || delivery.status === 'skipped' || outdated
  // A waiting delivery is skipped at the disabling or when its next attempt is due. Both are later than its last
  // attempt.
  const lastAt = Math.max(
    delivery.created_at,
    delivery.attempts.at(-1)?.at ?? 0,
    delivery.skipped_at ?? 0,
    outdated ? (delivery.next_attempt_at ?? 0) : 0,
  )
  return lost && !delivery.test && lastAt >= since && !isLeased(delivery, now)
}

/** Emits the event for the next page. Its id derives from this event's id, so that it is emitted once. */
const emitNextPage = async (work: WorkerWork, event: OutboxEvent, data: Recovery): Promise<void> => {
  const id = derivedId('event', event.created_at, `${event.id}\nnext`)
  const { workspace_id, installation_id, app_id } = event
  const next = newEvent(
    work.clock,
    { type: 'delivery.recovery', workspace_id, installation_id, app_id, data: { ...data } },
    id,
  )
  await ifUnchanged(work.commit([OutboxEntity.create(next)]))
}
