import { OutboxEntity } from '../../entities/events.ts'
import type { Installation } from '../../entities/installations.ts'
import { type Delivery, DeliveryEntity } from '../../entities/webhooks.ts'
import { newEvent } from '../../events/outbox.ts'
import type { Work } from '../deps.ts'
import { sendToApp } from '../listening/send.ts'
import { attemptOf, succeeded } from './outcome.ts'
import { loadWebhook } from './read.ts'
import { deliveryRequest } from './request.ts'
import { newDelivery } from './schedule.ts'
import type { TestResult } from './schemas.ts'

/**
 * Sends a test event now and tells how it went: whatever the masks say, also to a disabled subscription, once, and without
 * counting as a failure (decisions §6). The event and the delivery are written afterwards, together with the answer: a
 * request that died before has left nothing behind, and its retry sends the same event again.
 * @throws `not_found`
 */
export const testWebhook = async (work: Work, installation: Installation, id: string): Promise<TestResult> => {
  const webhook = await loadWebhook(work, installation.id, id)
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
