import * as z from 'zod'
import { EventMessage } from '#shared/foundation/queues/index.ts'
import type { QueueWorker } from '#shared/http/worker.ts'
import { endRemovedInstallation, endWithdrawnAccess } from '#shared/lifecycle/removal/index.ts'
import { stopRuns } from '#shared/moderation/suspension/index.ts'

const Data = z.object({ installation_id: z.string() })
const Suspended = z.object({ kind: z.enum(['app', 'workspace', 'installation']), id: z.string() })

/** Ends what uninstalled apps left behind, and the runs of suspended subjects and of apps without a consent. */
export const worker: QueueWorker = {
  name: 'removals',
  source: { kind: 'queue', queue: 'removals' },
  needs: ['table:read', 'table:write', 'objects:read', 'objects:write'],
  timeoutSeconds: 40,
  async handle(work, message) {
    const { event } = EventMessage.parse(message)
    if (event.type === 'platform.suspended') return stopRuns(work, Suspended.parse(JSON.parse(event.data)))
    const { installation_id } = Data.parse(JSON.parse(event.data))
    if (event.type === 'access.withdrawn') return endWithdrawnAccess(work, installation_id)
    await endRemovedInstallation(work, installation_id)
  },
}
