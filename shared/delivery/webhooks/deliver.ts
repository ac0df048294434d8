import { type Installation, InstallationEntity, isWorking } from '#shared/access/installations/index.ts'
import { logCall, sendToApp } from '#shared/agents/outgoing/index.ts'
import { AppEntity } from '#shared/catalogue/apps/index.ts'
import { reserveSlot } from '#shared/foundation/limits/index.ts'
import { isSettled, OutboxEntity, type OutboxEvent, OVERDUE_GRACE } from '#shared/foundation/outbox/index.ts'
import type { WorkerWork } from '#shared/foundation/work/index.ts'
import { type Workspace, WorkspaceEntity } from '#shared/identity/people/index.ts'
import { MINUTE, SECOND } from '#shared/kernel/clock.ts'
import { continueTrace } from '#shared/kernel/tracing/scope.ts'
import { ifUnchanged } from '#shared/table/entity.ts'
import { missing } from '#shared/table/expressions.ts'
import { canReadEvent } from '../catalogue/readable.ts'
import { type Delivery, DeliveryEntity, type Subscription, SubscriptionEntity } from './entity.ts'
import { mayStart, settleIfRecorded } from './first-attempts.ts'
import type { DeliveryMessage } from './message.ts'
import { attemptOf, lostAttempt, succeeded } from './outcome.ts'
import { isOutdated } from './present.ts'
import { recordAttempt } from './record.ts'
import { deliveryRequest } from './request.ts'
import { createIfMissing, newDelivery, wakeMessage } from './schedule.ts'

/** Duration of a worker's lease on a delivery. Longer than its function's timeout. */
const LEASE = 30 * SECOND

/**
 * Consecutive workers lost during one attempt before it counts as failed. This ends a loop that nothing else would end.
 */
const LOST_LEASES = 5

/**
 * Makes one attempt of a delivery, if its record says so.
 *
 *     pending ──lease──► sending ──2xx──────────────► succeeded
 *        ▲                  ├ failed, more attempts ─► pending, with the time of the next
 *        │                  └ failed, the last one ──► failed, counted at the subscription
 *        └ lease ended: the worker died
 *
 * Has no effect if woken twice, late or for a finished delivery. If woken early, it requeues the message with the
 * remaining delay.
 */
export const deliver = async (work: WorkerWork, message: DeliveryMessage): Promise<void> => {
  const scene = await load(work, message)
  const { delivery, event } = scene
  continueTrace(event?.trace)
  if (delivery) await deliverRecorded(work, delivery, scene, message)
  else if (message.first) await deliverFirst(work, scene, message, message.first)
}

/**
 * Makes the first attempt of a delivery that has no record. The record is created with the lease. If the attempt can't be made now
 * or comes late, the delivery becomes due itself first.
 *
 *     first message ──lease──► sending ──► as any delivery
 *        └ late, stopped or paced ─► pending
 */
const deliverFirst = async (
  work: WorkerWork,
  scene: DeliveryContext,
  message: DeliveryMessage,
  first: NonNullable<DeliveryMessage['first']>,
): Promise<void> => {
  const { webhook, event } = scene
  // A settled event's delivery had a record, which was deleted with its subscription.
  if (!webhook || !event || isSettled(event)) return
  const now = work.clock.now()
  const delivery = newDelivery(webhook, event, { id: message.delivery_id, now })
  const ready = delivery.status === 'pending' && mayStart(event, now) && readyToSend(delivery, scene)
  if (ready && webhook.max_per_minute === undefined) {
    const leased = await createLeased(work, delivery)
    if (!leased) return
    await attempt(work, leased, ready)
    return settleIfRecorded(work, event, webhook.id, first)
  }
  const created = await createIfMissing(work, webhook, event)
  await settleIfRecorded(work, event, webhook.id, first)
  await deliverRecorded(work, created, scene, message)
}

/**
 * Creates a delivery's record with this worker's lease. The event is due instead of it, until its outcome is recorded.
 * @returns undefined if another worker created it first
 */
const createLeased = async (work: WorkerWork, delivery: Delivery): Promise<Delivery | undefined> => {
  const leased = { ...delivery, leased_until: work.clock.now() + LEASE, due_at: undefined }
  const isOurs = await ifUnchanged(work.commit([DeliveryEntity.create(leased)]))
  return isOurs ? leased : undefined
}

const deliverRecorded = async (
  work: WorkerWork,
  delivery: Delivery,
  scene: DeliveryContext,
  message: DeliveryMessage,
): Promise<void> => {
  if (delivery.status !== 'pending' || delivery.attempt + 1 !== message.attempt) return
  const now = work.clock.now()
  if ((delivery.leased_until ?? 0) > now) return
  const ready = readyToSend(delivery, scene)
  if (!ready) return skip(work, delivery)
  const early = (delivery.next_attempt_at ?? now) - now
  if (early > 0) return work.queues.send('delivery', [wakeMessage(delivery, early)])
  if (await isPaced(work, delivery, ready.webhook)) return
  const leased = await lease(work, delivery)
  if (leased) await attempt(work, leased, ready)
}

interface DeliveryContext {
  delivery: Delivery | undefined
  webhook: Subscription | undefined
  event: OutboxEvent | undefined
  installation: Installation | undefined
  workspace: Workspace | undefined
  /** Nothing is sent for a suspended installation, app or workspace. */
  states: (string | undefined)[]
}

const load = async (work: WorkerWork, message: DeliveryMessage): Promise<DeliveryContext> => {
  const { installation_id, workspace_id, app_id } = message
  const [delivery, webhook, event, installation, app, workspace] = await work.table.getAll([
    DeliveryEntity.ref({ webhook_id: message.webhook_id, id: message.delivery_id }),
    SubscriptionEntity.ref({ installation_id, id: message.webhook_id }),
    OutboxEntity.ref({ id: message.event_id }),
    InstallationEntity.ref({ workspace_id, id: installation_id }),
    AppEntity.ref({ id: app_id }),
    WorkspaceEntity.ref({ id: workspace_id }),
  ] as const)
  return {
    delivery,
    webhook,
    event,
    installation,
    workspace,
    states: [installation?.status, app?.status, workspace?.status],
  }
}

/** Records with which a delivery is sent. */
interface Ready {
  webhook: Subscription
  event: OutboxEvent
  installation: Installation
}

/** Returns the records with which a delivery is sent, or undefined if it has to be skipped. */
const readyToSend = (delivery: Delivery, scene: DeliveryContext): Ready | undefined => {
  const { webhook, event, installation, workspace } = scene
  if (!webhook || !event || !installation || !workspace || isStopped(scene)) return undefined
  const ready = { webhook, event, installation }
  // Nothing stops the event that tells an app that it was uninstalled, or that its access was withdrawn.
  if (event.last_for === installation.id) return ready
  if (!isWorking(installation) || isOutdated(delivery, webhook)) return undefined
  // The scope may have been withdrawn or denied after the fan-out.
  return canReadEvent(event.type, { scopes: installation.scopes, workspace }) ? ready : undefined
}

const isStopped = ({ states }: DeliveryContext): boolean =>
  states.some((status) => status === undefined || STOPPED.has(status))

const STOPPED = new Set(['suspended', 'deleting'])

/** Condition that the record is as it was read. Any worker that changed it has taken it over. */
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

/**
 * Gives the attempt a time of its own if the subscription has a pace.
 * @returns true if the attempt has to wait for its time
 */
const isPaced = async (
  work: WorkerWork,
  delivery: Delivery,
  { id, max_per_minute }: Subscription,
): Promise<boolean> => {
  const n = delivery.attempt + 1
  if (max_per_minute === undefined || delivery.test || delivery.paced_attempt === n) return false
  const slot = await reserveSlot(work, `webhook:${id}`, MINUTE / max_per_minute)
  const wait = slot - work.clock.now()
  if (wait <= 0) return false
  const set = { next_attempt_at: slot, due_at: slot + OVERDUE_GRACE, paced_attempt: n }
  const isOurs = await ifUnchanged(
    work.commit([DeliveryEntity.update(delivery, { set }, { where: unchanged(delivery) })]),
  )
  if (isOurs) await work.queues.send('delivery', [wakeMessage(delivery, wait)])
  return true
}

/**
 * Claims the delivery for this worker.
 * @returns undefined if another worker claimed it first
 */
const lease = async (work: WorkerWork, delivery: Delivery): Promise<Delivery | undefined> => {
  const leased_until = work.clock.now() + LEASE
  const claimed = {
    leased_until,
    lost_leases: delivery.leased_until === undefined ? undefined : (delivery.lost_leases ?? 0) + 1,
    // The sweeper's due time moves only if it would come too early, because each move costs two index writes.
    ...((delivery.due_at ?? 0) < leased_until && { due_at: leased_until }),
  }
  const done = await ifUnchanged(
    work.commit([DeliveryEntity.update(delivery, { set: claimed }, { where: unchanged(delivery) })]),
  )
  return done ? { ...delivery, ...claimed } : undefined
}

const attempt = async (
  work: WorkerWork,
  delivery: Delivery,
  { webhook, event, installation }: Ready,
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
