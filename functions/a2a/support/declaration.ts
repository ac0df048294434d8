import { EVENT_ID } from '#shared/agents/a2a/index.ts'
import { NEEDS_IN_PLACE } from '#shared/agents/dispatch/index.ts'
import type { Capability } from '#shared/kernel/capabilities.ts'
import type { ErrorCode } from '#shared/kernel/errors.ts'

type Json = Record<string, unknown>

/** Declaration shared by all endpoints that talk to an agent. Messages have the size limit of MCP. */
export const ASKING = {
  group: 'a2a',
  caller: 'integration',
  hosts: true,
  lenient: true,
  waits: true,
  params: { id: 'installation' },
  maxBodyBytes: 2 * 1_024 * 1_024,
  errors: [
    'bad_request',
    'not_found',
    'forbidden',
    'insufficient_scope',
    'scope_denied_by_admin',
    'validation_error',
    'tool_denied',
    'tool_not_offered',
    'invalid_arguments',
    'chain_too_deep',
    'chain_budget_exceeded',
    'too_many_active_runs',
    'budget_exceeded',
    'run_already_finished',
    'conflict',
    'unknown_agent',
    'payload_too_large',
  ] as ErrorCode[],
  needs: [...NEEDS_IN_PLACE, 'table:read', 'table:write', 'keys:cards'] as Capability[],
} as const

const TASK = { taskId: 'run_01kae5m1v8w6c3x9q2r7t4y0zn', contextId: 'ctx_01kae5m1v8w6c3x9q2r7t4y0zn' }

const EVENTS: readonly [id: number, data: Json][] = [
  [
    1,
    {
      task: {
        id: TASK.taskId,
        contextId: TASK.contextId,
        status: { state: 'TASK_STATE_SUBMITTED', timestamp: '2026-11-21T10:15:30.123Z' },
      },
    },
  ],
  [
    2,
    {
      statusUpdate: {
        ...TASK,
        status: { state: 'TASK_STATE_WORKING', timestamp: '2026-11-21T10:15:30.410Z' },
      },
    },
  ],
]

/** Response for a reader who is up to date with a task that waits for their input. */
export const NOTHING_FOLLOWS = {
  status: 204,
  when: 'The task waits for your answer, and `Last-Event-ID` is its last event. No more events follow until then.',
} as const

/** Returns the declaration of a task's streams. @param shape an element as the version shows it */
export const followed = (shape = (element: Json): Json => element) =>
  ({
    produces: 'text/event-stream',
    lastEventId: EVENT_ID,
    example: EVENTS.map(([id, data]) => `id: ${id}\nevent: message\ndata: ${JSON.stringify(shape(data))}\n\n`).join(''),
  }) as const
