import type { QueueWorker } from '#shared/http/worker.ts'
import { handleMessengerMessage, MessengerMessage } from '#shared/messaging/messenger/index.ts'

/**
 * Sends to messenger threads, sets and removes webhooks, and ingests the platform bot's updates about Business
 * connections.
 */
export const worker: QueueWorker = {
  name: 'messenger',
  source: { kind: 'queue', queue: 'messenger' },
  needs: [
    'table:read',
    'table:write',
    'objects:read',
    'objects:write',
    'keys:data',
    'bot',
    'outgoing',
    'queue:messenger',
    // An incoming message starts a run of the thread's agent.
    'queue:dispatch',
  ],
  // The messages of a batch are handled in parallel, each for at most 20 seconds and one call of the Bot API.
  timeoutSeconds: 60,
  handle: (work, message) => handleMessengerMessage(work, MessengerMessage().parse(message)),
}
