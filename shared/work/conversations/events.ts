import * as z from 'zod'
import type { EventDefinitions } from '#shared/foundation/outbox/index.ts'

/** Events of conversations (contract/events-and-webhooks.md#event-types). */
export const CONVERSATION_EVENTS = {
  'message.created': {
    personal: ['text'],
    audience: 'installation',
    scope: 'chat:read',
    when: 'A message was written in a conversation of the agent.',
    data: () =>
      z.object({
        message_id: z.string(),
        conversation_id: z.string(),
        text: z.string(),
        author: z.object({
          type: z.enum(['user', 'agent', 'orchestrator', 'contact']),
          id: z.string(),
          name: z.string(),
        }),
      }),
  },
} as const satisfies EventDefinitions

export type ConversationEventType = keyof typeof CONVERSATION_EVENTS
