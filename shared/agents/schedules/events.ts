import * as z from 'zod'
import type { EventDefinitions } from '#shared/foundation/outbox/index.ts'

const schedule = () => ({ schedule_id: z.string(), installation_id: z.string(), name: z.string() })

/** Events of schedules (contract/events-and-webhooks.md#event-types). */
export const SCHEDULE_EVENTS = {
  'schedule.paused': {
    personal: ['name', 'last_error'],
    audience: 'installation',
    scope: 'runs:read',
    when: 'A schedule was paused: by a person or the app, after five failures in a row, or because its creator left.',
    data: () => z.object({ ...schedule(), reason: z.string(), last_error: z.string().nullable() }),
  },
  'schedule.skipped': {
    personal: ['name'],
    audience: 'installation',
    scope: 'runs:read',
    when: 'A schedule fell due and started no run, because the one before was still active, or it was too late.',
    data: () => z.object({ ...schedule(), at: z.string(), reason: z.string() }),
  },
} as const satisfies EventDefinitions

export type ScheduleEventType = keyof typeof SCHEDULE_EVENTS
