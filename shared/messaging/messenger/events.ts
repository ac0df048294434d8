import * as z from 'zod'
import type { EventDefinitions } from '#shared/foundation/outbox/index.ts'

/** Events of messenger accounts and threads (contract/events-and-webhooks.md#event-types). */
export const MESSENGER_EVENTS = {
  'messenger.send': {
    audience: 'internal',
    when: 'A message is waiting to be sent to a messenger thread.',
    data: () => z.object({ workspace_id: z.string(), thread_id: z.string() }),
  },
  'messenger.account': {
    audience: 'internal',
    when: 'A messenger account’s webhook must be set or removed.',
    data: () => z.object({ workspace_id: z.string(), account_id: z.string() }),
  },
} as const satisfies EventDefinitions

export type MessengerEventType = keyof typeof MESSENGER_EVENTS
