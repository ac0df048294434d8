import * as z from 'zod'
import { EventMessage } from '#shared/foundation/queues/index.ts'
import type { QueueWorker } from '#shared/http/worker.ts'
import {
  announceEvent,
  deliverNotification,
  handleMailWake,
  MailWake,
  PersonMessage,
} from '#shared/messaging/inbox/index.ts'

const Message = z.discriminatedUnion('kind', [MailWake, PersonMessage, EventMessage])

/**
 * Delivers notifications to people in the messaging app and by e-mail. An event becomes one message per person, so that
 * an unreachable person does not delay the others.
 */
export const worker: QueueWorker = {
  name: 'notifications',
  source: { kind: 'queue', queue: 'notifications' },
  needs: ['table:read', 'table:write', 'objects:read', 'bot', 'mail', 'queue:notifications', 'queue:live'],
  timeoutSeconds: 60,
  handle(work, message) {
    const given = Message.parse(message)
    switch (given.kind) {
      case 'mail':
        return handleMailWake(work, given)
      case 'person':
        return deliverNotification(work, given)
      case 'event':
        return announceEvent(work, given.event)
    }
  },
}
