import * as z from 'zod'
import { EventMessage } from '#shared/foundation/queues/index.ts'
import type { QueueWorker } from '#shared/http/worker.ts'
import { fetchLogos } from '#shared/moderation/logos/index.ts'

const Data = z.object({ owner: z.string() })

/** Fetches logos from the addresses that developers and admins gave, and deletes those that nobody shows anymore. */
export const worker: QueueWorker = {
  name: 'logos',
  source: { kind: 'queue', queue: 'logos' },
  needs: ['table:read', 'table:write', 'logos:read', 'logos:write', 'outgoing'],
  timeoutSeconds: 40,
  async handle(work, message) {
    const { event } = EventMessage.parse(message)
    await fetchLogos(work, Data.parse(JSON.parse(event.data)).owner)
  },
}
