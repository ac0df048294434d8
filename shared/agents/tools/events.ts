import * as z from 'zod'
import type { EventDefinitions } from '#shared/foundation/outbox/index.ts'

/** Events that agents emit with the `emit_event` tool (contract/events-and-webhooks.md#event-types). */
export const TOOL_EVENTS = {
  'custom.*': {
    audience: 'installation',
    scope: null,
    when: 'An agent emitted the event with the emit_event tool.',
    data: () => z.record(z.string(), z.unknown()),
  },
} as const satisfies EventDefinitions
