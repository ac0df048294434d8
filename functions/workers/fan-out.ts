import * as z from 'zod'
import { carryById, fanOutEvent } from '#shared/delivery/fan-out/index.ts'
import { startTriggeredAgain } from '#shared/delivery/triggers/index.ts'
import { CarryMessage, EventMessage, TriggerMessage } from '#shared/foundation/queues/index.ts'
import type { QueueWorker } from '#shared/http/worker.ts'

const Message = z.discriminatedUnion('kind', [CarryMessage, EventMessage, TriggerMessage])

/** Delivers events to feeds and webhook subscriptions. Those that it carries are counted as well. */
export const worker: QueueWorker = {
  name: 'fan-out',
  source: { kind: 'queue', queue: 'fanout' },
  needs: [
    'table:read',
    'table:write',
    // An event can start the run of a schedule.
    'objects:read',
    'objects:write',
    'queue:dispatch',
    // A schedule whose start fails is started later by a separate message.
    'queue:fanout',
    'queue:delivery',
    'queue:live',
    'queue:statistics',
  ],
  timeoutSeconds: 60,
  async handle(work, message) {
    const given = Message.parse(message)
    if (given.kind === 'trigger') await startTriggeredAgain(work, given)
    else await (given.kind === 'carry' ? carryById(work, given.event_id) : fanOutEvent(work, given.event.id))
  },
}
