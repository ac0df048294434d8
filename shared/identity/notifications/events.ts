import * as z from 'zod'
import type { EventDefinitions } from '#shared/foundation/outbox/index.ts'

/** Events of notifications (contract/events-and-webhooks.md#event-types). */
export const NOTIFICATION_EVENTS = {
  'notification.created': {
    personal: ['title', 'body'],
    audience: 'installation',
    scope: null,
    when: 'An agent, or the platform on its behalf, sent a notification.',
    data: () =>
      z.object({ notification_id: z.string(), title: z.string(), body: z.string(), app_id: z.string().nullable() }),
  },
} as const satisfies EventDefinitions

export type NotificationEventType = keyof typeof NOTIFICATION_EVENTS
