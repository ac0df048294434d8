import { runInline } from '#shared/agents/inline/index.ts'
import { checkArguments } from '#shared/http/parse.ts'
import type { QueueWorker } from '#shared/http/worker.ts'
import { RunMessage } from '#shared/work/runs/index.ts'

/**
 * Runs inline agents on the language model. They have their own worker, because the model's library is large and turns
 * take long.
 */
export const worker: QueueWorker = {
  name: 'inline-agents',
  source: { kind: 'queue', queue: 'inline-runs' },
  needs: [
    'table:read',
    'table:write',
    'objects:read',
    'objects:write',
    'files:write',
    'model',
    'outgoing',
    // The worker hands a long run to the next invocation.
    'queue:inline-runs',
    // Its tools start runs of other agents.
    'queue:dispatch',
  ],
  timeoutSeconds: 900,
  memoryMb: 1_024,
  async handle(work, message) {
    const { run_id, installation_id } = RunMessage().parse(message)
    await runInline(work, { installation_id, id: run_id }, checkArguments)
  },
}
