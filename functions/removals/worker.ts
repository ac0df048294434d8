import * as z from 'zod'
import { endRemoved } from '#shared/domain/installations/end-removed.ts'
import { stopRuns } from '#shared/domain/suspension/stop-runs.ts'
import { BusMessage } from '#shared/events/queues.ts'
import type { QueueWorker } from '#shared/http/worker.ts'

const Data = z.object({ installation_id: z.string() })
const Suspended = z.object({ kind: z.enum(['app', 'workspace', 'installation']), id: z.string() })

/** Ends what uninstalled apps left behind, and the runs of what was suspended. */
export const worker: QueueWorker = {
  name: 'removals',
  source: { kind: 'queue', queue: 'removals' },
  needs: ['table:read', 'table:write', 'objects:read', 'objects:write'],
  timeoutSeconds: 40,
  async handle(work, message) {
    const { detail } = BusMessage.parse(message)
    if (detail.type === 'platform.suspended') return stopRuns(work, Suspended.parse(JSON.parse(detail.data)))
    await endRemoved(work, Data.parse(JSON.parse(detail.data)).installation_id)
  },
}
