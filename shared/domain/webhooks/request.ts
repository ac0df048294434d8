import type { OutboxEvent } from '../../entities/events.ts'
import type { Subscription } from '../../entities/webhooks.ts'
import { envelope } from '../../events/outbox.ts'
import { LIMITS } from '../../kernel/limits.ts'
import { signStandard, signSvc } from '../../kernel/signatures.ts'
import type { Deps } from '../deps.ts'
import type { OutgoingRequest } from '../ports.ts'
import { openSecrets } from './secrets.ts'

/**
 * The signed request of one attempt (specification "Delivery", decisions §6). The body is made anew from the event's
 * record each time, and comes out the same byte for byte; the signatures carry the time of this attempt.
 * @param attempt from 1
 */
export const deliveryRequest = async (
  deps: Pick<Deps, 'keys' | 'clock'>,
  webhook: Subscription,
  event: OutboxEvent,
  { deliveryId, attempt }: { deliveryId: string; attempt: number },
): Promise<OutgoingRequest> => {
  const body = JSON.stringify(envelope(event))
  const secrets = await openSecrets(deps, webhook)
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
    // Receivers deduplicate (specification "Receiving rules" 4), so a kept-alive connection may be used.
    repeatable: true,
  }
}
