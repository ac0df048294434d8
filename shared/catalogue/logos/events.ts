import * as z from 'zod'
import type { EventDefinitions } from '#shared/foundation/outbox/index.ts'

/** Events of logos (contract/events-and-webhooks.md#event-types). */
export const LOGO_EVENTS = {
  'logo.wanted': {
    audience: 'internal',
    when: 'The address of a logo was set. The platform must fetch the image.',
    data: () => z.object({ owner: z.string() }),
  },
} as const satisfies EventDefinitions

export type LogoEventType = keyof typeof LOGO_EVENTS
