import { announceEvent } from '#shared/domain/notifications/announce.ts'
import { tellPerson } from '#shared/domain/notifications/tell-person.ts'
import { BusMessage, PersonMessage } from '#shared/events/queues.ts'
import type { QueueWorker } from '#shared/http/worker.ts'

/**
 * Brings notifications to people in the messaging app: an event becomes a message for each person concerned, so that one who
 * cannot be reached now holds up nobody else.
 */
export const worker: QueueWorker = {
  name: 'notification-delivery',
  source: { kind: 'queue', queue: 'notifications' },
  needs: ['table:read', 'table:write', 'bot', 'queue:notifications'],
  timeoutSeconds: 60,
  handle(work, message) {
    const person = PersonMessage.safeParse(message)
    return person.success ? tellPerson(work, person.data) : announceEvent(work, BusMessage.parse(message).detail)
  },
}
