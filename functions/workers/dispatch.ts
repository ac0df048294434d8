import * as z from 'zod'
import { dispatchRun, resumeRun } from '#shared/agents/dispatch/index.ts'
import { followOutsideRun } from '#shared/agents/outside/index.ts'
import { BusMessage } from '#shared/foundation/queues/index.ts'
import type { QueueWorker } from '#shared/http/worker.ts'
import { advanceChat } from '#shared/work/answering/index.ts'

const Data = z.object({
  run_id: z.string(),
  installation_id: z.string(),
  step_id: z.string().optional(),
  round: z.number().optional(),
})

const Moved = z.object({ conversation_id: z.string() })

/**
 * Advances conversations. Sends new runs to their agents, and resumed runs to agents that ask for them. Runs of inline
 * agents go to their own worker. Follows the tasks of outside A2A agents.
 */
export const worker: QueueWorker = {
  name: 'dispatch',
  source: { kind: 'queue', queue: 'dispatch' },
  needs: [
    'table:read',
    'table:write',
    'objects:read',
    'objects:write',
    'keys:callback',
    'keys:tokens',
    'keys:data',
    'outgoing',
    'queue:inline-runs',
    // The worker requeues conversations whose agent has no capacity, and tasks of outside agents to look at again.
    'queue:dispatch',
  ],
  // The agent has 30 seconds. The rest is for reading and writing.
  timeoutSeconds: 40,
  async handle(work, message) {
    const { detail } = BusMessage.parse(message)
    // A sample event belongs to no run.
    if (detail.test) return
    if (detail.type === 'chat.moved') return advanceChat(work, Moved.parse(JSON.parse(detail.data)).conversation_id)
    const { run_id, installation_id, step_id, round } = Data.parse(JSON.parse(detail.data))
    const key = { installation_id, id: run_id }
    if (detail.type === 'run.followed' && round !== undefined) await followOutsideRun(work, key, round)
    else if (detail.type === 'run.created') await dispatchRun(work, key)
    else if (step_id !== undefined) await resumeRun(work, key, step_id)
  },
}
