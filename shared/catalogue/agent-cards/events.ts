import * as z from 'zod'
import type { EventDefinitions } from '#shared/foundation/outbox/index.ts'

export const CARD_EVENTS = {
  'agent_card.due': {
    audience: 'internal',
    when: 'The card of an outside A2A agent is due for a check.',
    data: () => z.object({ app_id: z.string() }),
  },
} as const satisfies EventDefinitions

export type CardEventType = keyof typeof CARD_EVENTS
