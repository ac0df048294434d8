import { platformCountWrite } from '#shared/foundation/counters/index.ts'
import { emitEvent, OVERDUE_GRACE } from '#shared/foundation/outbox/index.ts'
import type { Work, WorkerWork } from '#shared/foundation/work/index.ts'
import { SECOND } from '#shared/kernel/clock.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { auditEntry } from '#shared/staff/audit/index.ts'
import { Superseded, type Write } from '#shared/table/entity.ts'
import { missing } from '#shared/table/expressions.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import type { DeliveryEventType } from '../catalogue/delivery-events.ts'
import { type Attempt, type Delivery, DeliveryEntity, type Subscription, SubscriptionEntity } from './entity.ts'
import { errorText, succeeded } from './outcome.ts'
import { wakeMessage } from './schedule.ts'

/** Attempts stored in a delivery's history. Every attempt rewrites the delivery's item. */
const KEPT_ATTEMPTS = 20

/** Records the outcome of an attempt and schedules the next one (contract/events-and-webhooks.md#retries). */
export const recordAttempt = async (work: WorkerWork, delivery: Delivery, attempt: Attempt): Promise<void> => {
  try {
    if (succeeded(attempt)) return await settle(work, delivery, attempt, 'succeeded', resetCount)
    const delay = delivery.test ? undefined : nextDelay(work, delivery, attempt)
    if (delay === undefined) return await settle(work, delivery, attempt, 'failed', countFailure(work, attempt))
    await retryAfter(work, delivery, attempt, delay)
  } catch (error) {
    if (!(error instanceof Superseded)) throw error
  }
}

/**
 * Returns the delay in ms before the next attempt, or undefined after the last one. There are as many attempts as
 * delays, so the last delay is never used.
 */
const nextDelay = ({ settings }: Work, { round_start }: Delivery, { n }: Attempt): number | undefined => {
  const delays = settings.webhookRetryDelaysSeconds
  const inRound = n - round_start
  return inRound < delays.length ? (delays[inRound - 1] as number) * SECOND : undefined
}

const retryAfter = async (work: WorkerWork, delivery: Delivery, attempt: Attempt, delay: number): Promise<void> => {
  const next_attempt_at = work.clock.now() + delay
  const due_at = next_attempt_at + OVERDUE_GRACE
  await work.commit([recorded(delivery, attempt, { status: 'pending', next_attempt_at, due_at })])
  await work.queues.send('delivery', [wakeMessage({ ...delivery, attempt: attempt.n }, delay)])
}

const loadCurrent = (
  { table }: Work,
  { installation_id, webhook_id: id }: Delivery,
): Promise<Subscription | undefined> => table.get(SubscriptionEntity, { installation_id, id })

/** Ends the delivery and applies its outcome to the subscription, in one transaction. */
const settle = async (
  work: WorkerWork,
  delivery: Delivery,
  attempt: Attempt,
  status: 'succeeded' | 'failed',
  effect: (webhook: Subscription) => Write[],
): Promise<void> => {
  const end = recorded(delivery, attempt, { status, next_attempt_at: null, due_at: undefined })
  const counted = delivery.test
    ? []
    : [platformCountWrite(work, work.clock.now(), delivery.id, { [`deliveries_${status}`]: 1 })]
  await retryOnConflict(async () => {
    const webhook = await loadCurrent(work, delivery)
    // Test deliveries, and deliveries of a subscription disabled since, don't count for or against the subscription.
    const judged = webhook?.status === 'active' && webhook.generation === delivery.generation && !delivery.test
    await work.commit([end, ...counted, ...(judged ? effect(webhook) : [])])
  })
}

const recorded = (
  delivery: Delivery,
  attempt: Attempt,
  changes: Pick<Delivery, 'status' | 'next_attempt_at' | 'due_at'>,
): Write => {
  const attempts = [...delivery.attempts, attempt].slice(-KEPT_ATTEMPTS)
  const made = { ...changes, attempt: attempt.n, attempts }
  // Another worker has recorded an attempt, or the lease ended before this one did.
  const otherwise = () => new Superseded()
  return DeliveryEntity.update(
    delivery,
    { set: { ...made, leased_until: undefined, lost_leases: undefined } },
    { where: { attempt: delivery.attempt, leased_until: delivery.leased_until ?? missing }, otherwise },
  )
}

/** Returns the write that changes a subscription, on condition that it is as it was read. */
const webhookWrite = (webhook: Subscription, set: Partial<Subscription>): Write =>
  SubscriptionEntity.update(
    webhook,
    { set },
    {
      where: {
        status: webhook.status,
        generation: webhook.generation,
        consecutive_failures: webhook.consecutive_failures,
      },
    },
  )

const resetCount = (webhook: Subscription): Write[] =>
  webhook.consecutive_failures === 0 ? [] : [webhookWrite(webhook, { consecutive_failures: 0 })]

/**
 * Counts one more failed delivery in a row. The fifth disables the subscription
 * (contract/events-and-webhooks.md#disabling).
 */
const countFailure =
  (work: Work, attempt: Attempt) =>
  (webhook: Subscription): Write[] => {
    const consecutive_failures = webhook.consecutive_failures + 1
    if (consecutive_failures < LIMITS.failuresToDisable) return [webhookWrite(webhook, { consecutive_failures })]
    const now = work.clock.now()
    const last_error = errorText(attempt)
    const { id, url, workspace_id, installation_id, app_id } = webhook
    return [
      webhookWrite(webhook, {
        consecutive_failures,
        status: 'disabled',
        generation: webhook.generation + 1,
        last_error,
        disabled_at: now,
      }),
      emitEvent<DeliveryEventType>(work.clock, {
        type: 'webhook.disabled',
        workspace_id,
        installation_id,
        app_id,
        data: { webhook_id: id, url, last_error },
      }),
      auditEntry(work, {
        scope: workspace_id,
        action: 'webhook.disabled',
        actor: { type: 'platform', id: 'webhook-delivery' },
        target: { type: 'webhook', id },
        details: { installation_id, last_error, consecutive_failures },
      }),
    ]
  }
