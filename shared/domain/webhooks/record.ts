import { AuditEntity } from '../../entities/platform.ts'
import {
  type Attempt,
  type Delivery,
  DeliveryEntity,
  type Subscription,
  SubscriptionEntity,
} from '../../entities/webhooks.ts'
import { GRACE, tell } from '../../events/outbox.ts'
import { LIMITS } from '../../kernel/limits.ts'
import { backoff } from '../../table/backoff.ts'
import type { Write } from '../../table/entity.ts'
import { missing } from '../../table/expressions.ts'
import type { Work, WorkerWork } from '../deps.ts'
import { countedOnPlatform } from '../statistics/platform.ts'
import { errorText, succeeded } from './outcome.ts'
import { wake } from './schedule.ts'

/** Attempts kept in a delivery's history: its item is written at each of them. */
const KEPT_ATTEMPTS = 20

/** Another worker has the delivery: the lease had ended before the attempt did. */
class LeaseLost extends Error {}
/** The subscription changed between our read and our write. */
class WebhookMoved extends Error {}

/** Writes down how an attempt ended, and plans the next one (decisions §6 "Retry delays"). */
export const recordAttempt = async (work: WorkerWork, delivery: Delivery, attempt: Attempt): Promise<void> => {
  try {
    if (succeeded(attempt)) return await settle(work, delivery, attempt, 'succeeded', resetCount)
    const delay = delivery.test ? undefined : nextDelay(work, delivery, attempt)
    if (delay === undefined) return await settle(work, delivery, attempt, 'failed', countFailure(work, attempt))
    await retryAfter(work, delivery, attempt, delay)
  } catch (error) {
    if (!(error instanceof LeaseLost)) throw error
  }
}

/** Ms after this attempt; undefined after the last one. There are as many attempts as delays, so the last is not reached. */
const nextDelay = ({ settings }: Work, { round_start }: Delivery, { n }: Attempt): number | undefined => {
  const delays = settings.webhookRetryDelaysMs
  const inRound = n - round_start
  return inRound < delays.length ? delays[inRound - 1] : undefined
}

const retryAfter = async (work: WorkerWork, delivery: Delivery, attempt: Attempt, delay: number): Promise<void> => {
  const next_attempt_at = work.clock.now() + delay
  await work.commit([recorded(delivery, attempt, { next_attempt_at, due_at: next_attempt_at + GRACE })])
  await work.queues.send('delivery', [wake({ ...delivery, attempt: attempt.n }, delay)])
}

/** The delivery's end, in one transaction with what it means for its subscription. */
const settle = async (
  work: WorkerWork,
  delivery: Delivery,
  attempt: Attempt,
  status: 'succeeded' | 'failed',
  effect: (webhook: Subscription) => Write[],
): Promise<void> => {
  const { installation_id, webhook_id } = delivery
  const end = recorded(delivery, attempt, { status, next_attempt_at: null, due_at: undefined })
  const counted = delivery.test
    ? []
    : [countedOnPlatform(work, work.clock.now(), delivery.id, { [`deliveries_${status}`]: 1 })]
  for (let tries = 0; ; tries++) {
    const webhook = await work.table.get(SubscriptionEntity, { installation_id, id: webhook_id })
    // One that was disabled since the delivery began, or is only being tested, is not judged by it.
    const judged = webhook?.status === 'active' && webhook.generation === delivery.generation && !delivery.test
    try {
      return await work.commit([end, ...counted, ...(judged ? effect(webhook) : [])])
    } catch (error) {
      if (!(error instanceof WebhookMoved) || tries >= 20) throw error
      await backoff(tries)
    }
  }
}

const recorded = (
  delivery: Delivery,
  attempt: Attempt,
  changes: { status?: 'succeeded' | 'failed'; next_attempt_at: number | null; due_at: number | undefined },
): Write =>
  DeliveryEntity.update(
    delivery,
    {
      set: {
        ...changes,
        attempt: attempt.n,
        attempts: [...delivery.attempts, attempt].slice(-KEPT_ATTEMPTS),
        leased_until: undefined,
        lost_leases: undefined,
      },
    },
    {
      where: { attempt: delivery.attempt, leased_until: delivery.leased_until ?? missing },
      otherwise: () => new LeaseLost(),
    },
  )

/** The write of a subscription's change, under the condition that it is as it was read. */
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
      otherwise: () => new WebhookMoved(),
    },
  )

const resetCount = (webhook: Subscription): Write[] =>
  webhook.consecutive_failures === 0 ? [] : [webhookWrite(webhook, { consecutive_failures: 0 })]

/** One more failed delivery in a row; the fifth disables (specification "Receiving rules" 3). */
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
      tell(work.clock, {
        type: 'webhook.disabled',
        workspace_id,
        installation_id,
        app_id,
        data: { webhook_id: id, url, last_error },
      }),
      AuditEntity.create({
        id: work.id('audit'),
        scope: workspace_id,
        action: 'webhook.disabled',
        actor: { type: 'platform', id: 'webhook-delivery' },
        target: { type: 'webhook', id },
        details: { installation_id, last_error, consecutive_failures },
        created_at: now,
      }),
    ]
  }
