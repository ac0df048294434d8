import * as z from 'zod'
import type { EventDefinitions } from '../outbox/index.ts'

/** Event that wakes open pages for a change that no other event reports. */
export const UPDATES_EVENTS = {
  'pages.changed': {
    audience: 'internal',
    when: 'A person read notifications on one of their pages, or the access of one of their pages ended.',
    data: () => z.object({}),
  },
} as const satisfies EventDefinitions

export type UpdatesEventType = keyof typeof UPDATES_EVENTS
