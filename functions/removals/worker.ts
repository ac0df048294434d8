import * as z from 'zod'
import { endRemoved } from '#shared/domain/installations/end-removed.ts'
import { BusMessage } from '#shared/events/queues.ts'
import type { QueueWorker } from '#shared/http/worker.ts'

const Data = z.object({ installation_id: z.string() })

/** Ends what uninstalled apps left behind. */
export const worker: QueueWorker = {
  name: 'removals',
  source: { kind: 'queue', queue: 'removals' },
  needs: ['table:read', 'table:write', 'objects:read', 'objects:write'],
  timeoutSeconds: 40,
  async handle(work, message) {
    const { detail } = BusMessage.parse(message)
    await endRemoved(work, Data.parse(JSON.parse(detail.data)).installation_id)
  },
}
