import type * as z from 'zod'
import { OutboxEntity, type OutboxEvent } from '../../entities/events.ts'
import { type Delivery, DeliveryEntity, type Subscription, SubscriptionEntity } from '../../entities/webhooks.ts'
import { EVENTS } from '../../events/catalogue.ts'
import { newEvent, tell } from '../../events/outbox.ts'
import { MINUTE } from '../../kernel/clock.ts'
import { derivedId } from '../../kernel/ids.ts'
import { LIMITS } from '../../kernel/limits.ts'
import { ConditionFailed, ifUnchanged } from '../../table/entity.ts'
import type { Work, WorkerWork } from '../deps.ts'
import { requireEnabled } from './enable.ts'
import { isOutdated, presentWebhook } from './present.ts'
import { boundAt, loadWebhook } from './read.ts'
import { beginRound, isLeased, roundWrite } from './redeliver.ts'
import { wake } from './schedule.ts'
import type { WebhookView } from './schemas.ts'

/** Deliveries looked at for one event; the rest is another event's work. */
const PAGE = 100
const AT_ONCE = 20

/**
 * Has everything sent again, each once, that failed or was skipped since a time. How much that is does not matter here:
 * workers go through it page by page.
 * @param since epoch ms
 * @throws `not_found`; `conflict` while the subscription is disabled
 */
export const requestRecovery = async (
  work: Work,
  installation_id: string,
  webhookId: string,
  since: number,
): Promise<WebhookView> => {
  const webhook = requireEnabled(await loadWebhook(work, installation_id, webhookId))
  const view = presentWebhook(webhook)
  await work.commit(
    [
      tell(work.clock, {
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

const Recovery = EVENTS['delivery.recovery'].data

type Recovery = z.infer<ReturnType<typeof Recovery>>

/**
 * One page of a recovery: begins a new round of each delivery that needs one, wakes the workers, and tells of the next
 * page. Done again it begins nothing twice, because a delivery keeps the id of the recovery that began its round.
 */
export const recoverDeliveries = async (work: WorkerWork, event: OutboxEvent): Promise<void> => {
  const recovery = Recovery().parse(JSON.parse(event.data))
  const { installation_id, webhook_id } = recovery
  const webhook = await work.table.get(SubscriptionEntity, { installation_id, id: webhook_id })
  // Removed, or disabled again: what failed or was skipped stays so.
  if (webhook?.status !== 'active') return
  const page = await work.table.query(
    DeliveryEntity,
    { webhook_id },
    { limit: PAGE, ascending: true, after: recovery.after, ...bounds(work, recovery) },
  )
  const waiting: Delivery[] = []
  for (let i = 0; i < page.items.length; i += AT_ONCE) {
    const some = page.items.slice(i, i + AT_ONCE)
    const begun = await Promise.all(some.map((delivery) => begin(work, delivery, webhook, recovery)))
    waiting.push(...begun.filter((delivery) => delivery !== undefined))
  }
  if (waiting.length > 0) {
    await work.queues.send(
      'delivery',
      waiting.map((delivery) => wake(delivery)),
    )
  }
  if (page.next !== undefined) await goOn(work, event, { ...recovery, after: page.next })
  else if (!recovery.older) await goOn(work, event, { ...recovery, after: undefined, older: true })
}

/**
 * Deliveries sort by the time of their event; one may have failed a whole retry schedule later, so the range begins that
 * much earlier. Older ones come afterwards: few, because their last attempt was then of a round that somebody began again.
 */
const bounds = (work: Work, { since, until, older }: Recovery): { from: string; to: string } => {
  const { webhookRetryDelaysMs } = work.settings
  const schedule = webhookRetryDelaysMs.reduce((sum, delay) => sum + delay + MINUTE, 0)
  const oldest = work.clock.now() - LIMITS.deliveryLife
  const from = Math.max(since - schedule, oldest)
  return older ? { from: boundAt(oldest), to: boundAt(from) } : { from: boundAt(from), to: boundAt(until + 1) }
}

/** @returns the delivery when a worker is to be woken for it */
const begin = async (
  work: WorkerWork,
  delivery: Delivery,
  webhook: Subscription,
  { recovery_id, since }: Recovery,
): Promise<Delivery | undefined> => {
  // Begun by this recovery already: the message may have been lost.
  if (delivery.recovery_id === recovery_id) return delivery.status === 'pending' ? delivery : undefined
  const now = work.clock.now()
  const lost = delivery.status === 'failed' || delivery.status === 'skipped' || isOutdated(delivery, webhook)
  // One that waited is skipped at the disabling, or when its next attempt comes up: either is later than its last attempt.
  const lastAt = Math.max(
    delivery.created_at,
    delivery.attempts.at(-1)?.at ?? 0,
    delivery.skipped_at ?? 0,
    isOutdated(delivery, webhook) ? (delivery.next_attempt_at ?? 0) : 0,
  )
  if (!lost || delivery.test || lastAt < since || isLeased(delivery, now)) return undefined
  const again = beginRound(delivery, webhook, now, recovery_id)
  try {
    await work.commit([roundWrite(delivery, again)])
    return again
  } catch (error) {
    // Somebody else is at it.
    if (error instanceof ConditionFailed) return undefined
    throw error
  }
}

/** The next page's event has an id that follows from this one's, so that it is told once. */
const goOn = async (work: WorkerWork, event: OutboxEvent, data: Recovery): Promise<void> => {
  const id = derivedId('event', event.created_at, `${event.id}\nnext`)
  const { workspace_id, installation_id, app_id } = event
  const next = newEvent(
    work.clock,
    { type: 'delivery.recovery', workspace_id, installation_id, app_id, data: { ...data } },
    id,
  )
  await ifUnchanged(work.commit([OutboxEntity.create(next)]))
}
