import * as z from 'zod'
import type { EventDefinitions } from '#shared/foundation/outbox/index.ts'

/** Events of suspensions (contract/events-and-webhooks.md#event-types). */
export const SUSPENSION_EVENTS = {
  'platform.suspended': {
    audience: 'internal',
    when: 'An app, a workspace or an installation was suspended. Its active runs must now be ended.',
    data: () => z.object({ kind: z.enum(['app', 'workspace', 'installation']), id: z.string() }),
  },
} as const satisfies EventDefinitions

export type SuspensionEventType = keyof typeof SUSPENSION_EVENTS
