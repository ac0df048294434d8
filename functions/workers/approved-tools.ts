import * as z from 'zod'
import { CallMessage, executeApprovedCall } from '#shared/agents/dispatch/index.ts'
import { EventMessage } from '#shared/foundation/queues/index.ts'
import type { QueueWorker } from '#shared/http/worker.ts'

/** An event `approval.decided`, or the call itself if that message was lost. */
const Message = z.discriminatedUnion('kind', [CallMessage(), EventMessage])

const Data = z.object({ run_id: z.string(), installation_id: z.string(), step_id: z.string() })

/** Executes tool calls that a person approved. */
export const worker: QueueWorker = {
  name: 'approved-tools',
  source: { kind: 'queue', queue: 'approved-tools' },
  needs: ['table:read', 'table:write', 'objects:read', 'objects:write', 'outgoing', 'receipts:use'],
  timeoutSeconds: 40,
  async handle(work, message) {
    const given = Message.parse(message)
    const { run_id, installation_id, step_id } =
      given.kind === 'call' ? given : Data.parse(JSON.parse(given.event.data))
    await executeApprovedCall(work, { installation_id, id: run_id }, step_id)
  },
}
