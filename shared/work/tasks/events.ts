import * as z from 'zod'
import type { EventDefinitions } from '#shared/foundation/outbox/index.ts'

const task = () => ({ task_id: z.string(), status: z.string(), title: z.string(), conversation_id: z.string() })

/** Events of tasks (contract/events-and-webhooks.md#event-types). */
export const TASK_EVENTS = {
  'task.created': {
    audience: 'installation',
    scope: 'tasks:read',
    personal: ['title'],
    when: 'A task was assigned to the agent.',
    data: () => z.object(task()),
  },
  'task.updated': {
    audience: 'installation',
    scope: 'tasks:read',
    personal: ['title'],
    when: 'A task of the agent changed: its status, assignee, text or messages.',
    data: () =>
      z.object({
        ...task(),
        assigned: z.boolean().meta({ description: 'False if the task is no longer assigned to the agent.' }),
        percent: z.number().nullable(),
      }),
  },
  'task.result': {
    audience: 'installation',
    scope: 'tasks:read',
    personal: ['text', 'output'],
    when: 'The assignee reported on a task that the agent delegated.',
    data: () =>
      z.object({
        task_id: z.string(),
        status: z.string(),
        text: z.string(),
        output: z.record(z.string(), z.unknown()).nullable(),
      }),
  },
} as const satisfies EventDefinitions

export type TaskEventType = keyof typeof TASK_EVENTS
