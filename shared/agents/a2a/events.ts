import * as z from 'zod'
import type { EventDefinitions } from '#shared/foundation/outbox/index.ts'

export const A2A_EVENTS = {
  'a2a.push_configured': {
    audience: 'internal',
    when: 'An A2A client asked for push notifications of a task.',
    data: () => z.object({ run_id: z.string() }),
  },
  'a2a.task_notified': {
    audience: 'internal',
    when: 'An outside A2A agent reported a change of its task.',
    data: () => z.object({ run_id: z.string(), installation_id: z.string() }),
  },
} as const satisfies EventDefinitions
