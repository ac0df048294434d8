import * as z from 'zod'
import type { EventDefinitions } from '#shared/foundation/outbox/index.ts'

/** Events of the platform's own bot (contract/events-and-webhooks.md#event-types). */
export const BOT_EVENTS = {
  'messenger.update': {
    audience: 'internal',
    when: 'The platform’s bot received an update about a person’s Business connection.',
    data: () => z.object({ update: z.record(z.string(), z.unknown()) }),
  },
} as const satisfies EventDefinitions

export type BotEventType = keyof typeof BOT_EVENTS
