import { AppEntity } from '../../entities/apps.ts'
import { OutboxEntity, type OutboxEvent } from '../../entities/events.ts'
import { type Installation, InstallationEntity } from '../../entities/installations.ts'
import { WorkspaceEntity } from '../../entities/people.ts'
import { type Delivery, DeliveryEntity, type Subscription, SubscriptionEntity } from '../../entities/webhooks.ts'
import type { DeliveryMessage } from '../../events/queues.ts'
import { SECOND } from '../../kernel/clock.ts'
import { ifUnchanged } from '../../table/entity.ts'
import { missing } from '../../table/expressions.ts'
import { logCall } from '../called.ts'
import type { WorkerWork } from '../deps.ts'
import { sendToApp } from '../listening/send.ts'
import { attemptOf, lostAttempt, succeeded } from './outcome.ts'
import { isOutdated } from './present.ts'
import { recordAttempt } from './record.ts'
import { deliveryRequest } from './request.ts'
import { wake } from './schedule.ts'

/** How long a worker has a delivery to itself: more than its function's timeout. */
const LEASE = 30 * SECOND

/** Workers lost over one attempt, one after the other, before it counts as failed: the end of a loop that nothing else ends. */
const LOST_LEASES = 5

/**
 * Makes one attempt of a delivery, if its record says so.
 *
 *     pending ──lease──► sending ──2xx──────────────► succeeded
 *        ▲                  ├ failed, more attempts ─► pending, with the time of the next
 *        │                  └ failed, the last one ──► failed, counted at the subscription
 *        └ lease ended: the worker died
 *
 * Woken twice, late or for what is over, it does nothing; woken early, it sends the message on with the rest of the delay.
 */
export const deliver = async (work: WorkerWork, message: DeliveryMessage): Promise<void> => {
  const scene = await load(work, message)
  const { delivery } = scene
  if (delivery?.status !== 'pending' || delivery.attempt + 1 !== message.attempt) return
  const now = work.clock.now()
  if ((delivery.leased_until ?? 0) > now) return
  const { webhook, event, installation } = scene
  if (!webhook || !event || !installation || isStopped(scene) || isOutdated(delivery, webhook))
    return skip(work, delivery)
  const early = (delivery.next_attempt_at ?? now) - now
  if (early > 0) return work.queues.send('delivery', [wake(delivery, early)])
  const leased = await lease(work, delivery)
  if (leased) await attempt(work, leased, webhook, event, installation)
}

interface Scene {
  delivery: Delivery | undefined
  webhook: Subscription | undefined
  event: OutboxEvent | undefined
  installation: Installation | undefined
  /** Nothing goes out for an installation that was removed or suspended, or for a suspended app or workspace. */
  states: (string | undefined)[]
}

const load = async (work: WorkerWork, message: DeliveryMessage): Promise<Scene> => {
  const { installation_id, workspace_id, app_id } = message
  const [delivery, webhook, event, installation, app, workspace] = await work.table.getAll([
    { entity: DeliveryEntity, key: DeliveryEntity.key({ webhook_id: message.webhook_id, id: message.delivery_id }) },
    { entity: SubscriptionEntity, key: SubscriptionEntity.key({ installation_id, id: message.webhook_id }) },
    { entity: OutboxEntity, key: OutboxEntity.key({ id: message.event_id }) },
    { entity: InstallationEntity, key: InstallationEntity.key({ workspace_id, id: installation_id }) },
    { entity: AppEntity, key: AppEntity.key({ id: app_id }) },
    { entity: WorkspaceEntity, key: WorkspaceEntity.key({ id: workspace_id }) },
  ] as const)
  return { delivery, webhook, event, installation, states: [installation?.status, app?.status, workspace?.status] }
}

const isStopped = ({ states }: Scene): boolean => states.some((status) => status === undefined || STOPPED.has(status))

const STOPPED = new Set(['suspended', 'revoked', 'deleting'])

/** The record as it was read; whoever changed it since has taken it over. */
const unchanged = (delivery: Delivery) => ({
  status: delivery.status,
  attempt: delivery.attempt,
  round_start: delivery.round_start,
  leased_until: delivery.leased_until ?? missing,
})

const skip = async (work: WorkerWork, delivery: Delivery): Promise<void> => {
  await ifUnchanged(
    work.commit([
      DeliveryEntity.update(
        delivery,
        {
          set: {
            status: 'skipped',
            skipped_at: work.clock.now(),
            next_attempt_at: null,
            leased_until: undefined,
            due_at: undefined,
          },
        },
        { where: unchanged(delivery) },
      ),
    ]),
  )
}

/** Takes the delivery for this worker. @returns undefined when another one was faster */
const lease = async (work: WorkerWork, delivery: Delivery): Promise<Delivery | undefined> => {
  const leased_until = work.clock.now() + LEASE
  const taken = {
    leased_until,
    lost_leases: delivery.leased_until === undefined ? undefined : (delivery.lost_leases ?? 0) + 1,
    // The sweep's time is moved only when it would come too early: each move costs two writes of the index.
    ...((delivery.due_at ?? 0) < leased_until && { due_at: leased_until }),
  }
  const done = await ifUnchanged(
    work.commit([DeliveryEntity.update(delivery, { set: taken }, { where: unchanged(delivery) })]),
  )
  return done ? { ...delivery, ...taken } : undefined
}

const attempt = async (
  work: WorkerWork,
  delivery: Delivery,
  webhook: Subscription,
  event: OutboxEvent,
  installation: Installation,
): Promise<void> => {
  const n = delivery.attempt + 1
  const at = work.clock.now()
  if ((delivery.lost_leases ?? 0) >= LOST_LEASES) return recordAttempt(work, delivery, lostAttempt(n, at))
  const request = await deliveryRequest(work, webhook, event, { deliveryId: delivery.id, attempt: n })
  const about = { kind: 'webhook', event: event.type, id: delivery.id, attempt: n } as const
  const result = await sendToApp(work, installation, request, about)
  const made = attemptOf(result, n, at)
  logCall(work.log, 'webhook delivery', 'webhook', result.kind === 'response' || succeeded(made), {
    delivery_id: delivery.id,
    webhook_id: webhook.id,
    installation_id: webhook.installation_id,
    event_id: event.id,
    attempt: n,
    outcome: result.kind === 'response' ? result.status : result.phase,
    duration_ms: result.durationMs,
  })
  await recordAttempt(work, delivery, made)
}
