import { handleMessengerWake } from '#shared/domain/messenger/wake.ts'
import { BusMessage } from '#shared/events/queues.ts'
import type { QueueWorker } from '#shared/http/worker.ts'

/** Sends to messenger chats, sets webhooks and takes them off, and takes in what the platform's bot is told of Business connections. */
export const worker: QueueWorker = {
  name: 'messenger-worker',
  source: { kind: 'queue', queue: 'messenger' },
  needs: ['table:read', 'table:write', 'objects:read', 'objects:write', 'keys:data', 'bot', 'queue:messenger'],
  // A batch's messages are handled at the same time, each for at most 20 seconds and one call of the Bot API.
  timeoutSeconds: 60,
  handle: (work, message) => handleMessengerWake(work, BusMessage.parse(message)),
}
