import * as z from 'zod'
import type { EventDefinitions } from '#shared/foundation/outbox/index.ts'

/** Events of subscriptions and deliveries (contract/events-and-webhooks.md#event-types). */
export const DELIVERY_EVENTS = {
  'webhook.disabled': {
    audience: 'installation',
    scope: null,
    when: 'A subscription was disabled after 5 failed deliveries in a row, or by an admin.',
    data: () => z.object({ webhook_id: z.string(), url: z.string(), last_error: z.string() }),
  },
  'webhook.test': {
    audience: 'installation',
    scope: null,
    when: 'A test delivery was requested.',
    data: () => z.object({ webhook_id: z.string() }),
  },
  'delivery.requested': {
    audience: 'internal',
    when: 'Deliveries must be sent again.',
    data: () =>
      z.object({ installation_id: z.string(), webhook_id: z.string(), delivery_ids: z.array(z.string()).max(100) }),
  },
  'delivery.recovery': {
    audience: 'internal',
    when: 'A subscription’s failed and skipped deliveries must be sent again, a page at a time.',
    data: () =>
      z.object({
        installation_id: z.string(),
        webhook_id: z.string(),
        recovery_id: z.string(),
        since: z.number(),
        until: z.number(),
        after: z.string().optional(),
        older: z.boolean().optional(),
      }),
  },
} as const satisfies EventDefinitions

export type DeliveryEventType = keyof typeof DELIVERY_EVENTS
