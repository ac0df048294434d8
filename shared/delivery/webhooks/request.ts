import { envelopeOf, type OutboxEvent } from '#shared/foundation/outbox/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import type { OutgoingRequest } from '#shared/kernel/ports/outgoing-http.ts'
import { signStandard, signSvc } from '#shared/kernel/signatures.ts'
import type { Subscription } from './entity.ts'
import { decryptSecrets } from './secrets.ts'

/**
 * Builds the signed request of one attempt (contract/events-and-webhooks.md#delivery-requests). The body is rebuilt
 * from the event's record each time and is byte-for-byte identical. The signatures carry the time of this attempt.
 * @param attempt from 1
 */
export const deliveryRequest = async (
  deps: Pick<Deps, 'keys' | 'clock'>,
  webhook: Subscription,
  event: OutboxEvent,
  { deliveryId, attempt }: { deliveryId: string; attempt: number },
): Promise<OutgoingRequest> => {
  const body = JSON.stringify(envelopeOf(event))
  const secrets = await decryptSecrets(deps, webhook)
  const seconds = Math.floor(deps.clock.now() / 1_000)
  return {
    method: 'POST',
    url: webhook.url,
    headers: {
      'Content-Type': 'application/json',
      'User-Agent': 'AgentPlatform/1.0 (+webhooks)',
      'X-SVC-Signature': signSvc(secrets, seconds, body),
      'X-SVC-Event': event.type,
      'X-SVC-Delivery': deliveryId,
      'X-SVC-Attempt': String(attempt),
      ...signStandard(secrets, event.id, seconds, body),
    },
    body,
    deadlineMs: LIMITS.deliveryDeadline,
    maxResponseBytes: LIMITS.deliveryAnswerBytes,
    // Receivers deduplicate (contract/events-and-webhooks.md#delivery-requests), so a kept-alive connection may be
    // used.
    repeatable: true,
  }
}
