import * as z from 'zod'
import type { EventDefinitions } from '#shared/foundation/outbox/index.ts'

const run = () => ({
  run_id: z.string(),
  app_id: z.string(),
  installation_id: z.string(),
  status: z.string().meta({ example: 'running' }),
  trigger: z.string(),
})

const finished = () => ({ ...run(), duration_ms: z.number().int().meta({ example: 1_042 }) })
const approval = () => ({ ...run(), step_id: z.string(), tool: z.string() })

/** Events of runs (contract/events-and-webhooks.md#event-types). */
export const RUN_EVENTS = {
  'run.created': {
    audience: 'installation',
    scope: 'runs:read',
    when: 'A run was created.',
    data: () => z.object(run()),
  },
  'run.awaiting_approval': {
    audience: 'installation',
    scope: 'runs:read',
    when: 'A dangerous tool call is waiting for a person’s approval.',
    data: () => z.object(approval()),
  },
  'run.resumed': {
    audience: 'installation',
    scope: 'runs:read',
    when: 'The run resumed after a decision. If the tool was approved, it has been executed and its result is in the step.',
    data: () =>
      z.object({
        ...approval(),
        decision: z.enum(['approved', 'rejected']),
        receipt: z.string().optional().meta({
          description: 'The signed receipt of the decision (JWS). Absent if no person decided within 24 hours.',
        }),
      }),
  },
  'run.input_required': {
    audience: 'installation',
    scope: 'runs:read',
    when: 'The agent asked a person a question. The run waits for the answer.',
    data: () => z.object({ ...run(), step_id: z.string() }),
  },
  'run.input_received': {
    audience: 'installation',
    scope: 'runs:read',
    when: 'Questions of a step were answered. The answers are in the step.',
    data: () => z.object({ ...run(), step_id: z.string() }),
  },
  'run.succeeded': {
    audience: 'installation',
    scope: 'runs:read',
    when: 'The run finished successfully.',
    data: () => z.object(finished()),
  },
  'run.failed': {
    personal: ['error_message'],
    audience: 'installation',
    scope: 'runs:read',
    when: 'The run ended with an error.',
    data: () => z.object({ ...finished(), error_code: z.string(), error_message: z.string() }),
  },
  'run.cancelled': {
    audience: 'installation',
    scope: 'runs:read',
    when: 'The run was cancelled.',
    data: () => z.object(finished()),
  },
  'approval.decided': {
    audience: 'internal',
    when: 'A person decided an approval. An approved tool must now be executed.',
    data: () =>
      z.object({ run_id: z.string(), installation_id: z.string(), step_id: z.string(), decision: z.string() }),
  },
  'chat.moved': {
    audience: 'internal',
    when: 'A run that answers a conversation ended or is waiting for a person, or a message is waiting for its turn.',
    data: () => z.object({ conversation_id: z.string() }),
  },
  'messenger.answer': {
    audience: 'internal',
    when: 'A run that answers a messenger message succeeded. Its output becomes a draft.',
    data: () => z.object({ installation_id: z.string(), run_id: z.string() }),
  },
} as const satisfies EventDefinitions

export type RunEventType = keyof typeof RUN_EVENTS
