import * as z from 'zod'
import { advanceChat } from '#shared/domain/conversations/advance.ts'
import { dispatchRun, resumeRun } from '#shared/domain/runs/dispatch.ts'
import { BusMessage } from '#shared/events/queues.ts'
import type { QueueWorker } from '#shared/http/worker.ts'

const Data = z.object({ run_id: z.string(), installation_id: z.string(), step_id: z.string().optional() })

const Moved = z.object({ conversation_id: z.string() })

/** Lets chats go on. Hands new runs to their agents, and resumed ones to those that ask for it; those of inline agents to their own worker. */
export const worker: QueueWorker = {
  name: 'run-dispatch',
  source: { kind: 'queue', queue: 'dispatch' },
  needs: [
    'table:read',
    'table:write',
    'objects:read',
    'objects:write',
    'keys:tokens',
    'keys:data',
    'queue:inline-runs',
    // It comes back to chats whose agent has no room.
    'queue:dispatch',
  ],
  // The agent has 30 seconds; the rest is reading and writing.
  timeoutSeconds: 40,
  async handle(work, message) {
    const { detail } = BusMessage.parse(message)
    // A sample, which is about no run.
    if (detail.test) return
    if (detail.type === 'chat.moved') return advanceChat(work, Moved.parse(JSON.parse(detail.data)).conversation_id)
    const { run_id, installation_id, step_id } = Data.parse(JSON.parse(detail.data))
    const key = { installation_id, id: run_id }
    if (detail.type === 'run.created') await dispatchRun(work, key)
    else if (step_id !== undefined) await resumeRun(work, key, step_id)
  },
}
