import type { Installation } from '#shared/access/installations/index.ts'
import { sendToApp } from '#shared/agents/outgoing/index.ts'
import { newEvent, OutboxEntity } from '#shared/foundation/outbox/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { type Delivery, DeliveryEntity } from './entity.ts'
import { attemptOf, succeeded } from './outcome.ts'
import { requireNotPaused } from './paused.ts'
import { loadWebhook } from './read.ts'
import { deliveryRequest } from './request.ts'
import { newDelivery } from './schedule.ts'
import type { TestResult } from './schemas.ts'

/**
 * Sends a test event now and returns the outcome. It ignores the masks, works for a disabled subscription, is attempted
 * once and never counts as a failure (contract/events-and-webhooks.md#test-deliveries). The event and the delivery are
 * written afterwards, together with the response. A request that dies earlier leaves nothing behind, and its retry
 * sends the same event again.
 * @throws `not_found`; `conflict` if an admin paused it
 */
export const sendTestDelivery = async (work: Work, installation: Installation, id: string): Promise<TestResult> => {
  const webhook = await loadWebhook(work, installation.id, id)
  requireNotPaused(webhook)
  const at = work.clock.now()
  const { workspace_id, installation_id, app_id } = webhook
  const event = newEvent(
    work.clock,
    { type: 'webhook.test', workspace_id, installation_id, app_id, data: { webhook_id: id } },
    work.id('event'),
  )
  const deliveryId = work.id('delivery')
  const request = await deliveryRequest(work, webhook, event, { deliveryId, attempt: 1 })
  const about = { kind: 'webhook', event: event.type, id: deliveryId, attempt: 1 } as const
  const result = await sendToApp(work, installation, request, about)
  const attempt = attemptOf(result, 1, at)
  const delivered = succeeded(attempt)
  const { due_at: _, ...planned } = newDelivery(webhook, event, { id: deliveryId, now: at })
  const delivery: Delivery = {
    ...planned,
    status: delivered ? 'succeeded' : 'failed',
    attempt: 1,
    next_attempt_at: null,
    attempts: [attempt],
    test: true,
  }
  const answer: TestResult = {
    delivered,
    response_code: attempt.response_code,
    error: attempt.error,
    ...(attempt.hint !== null && { hint: attempt.hint }),
  }
  await work.commit([OutboxEntity.create(event), DeliveryEntity.create(delivery)], answer)
  return answer
}
