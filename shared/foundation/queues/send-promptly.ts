import { setTimeout as pause } from 'node:timers/promises'
import type { MessageQueues } from '#shared/kernel/ports/queues.ts'
import type { QueueName } from '#shared/kernel/queue-names.ts'
import type { OutboxEvent } from '../outbox/entity.ts'
import type { Work } from '../work/work.ts'

/** Time in ms for which a request waits until its message is sent. A queue that doesn't answer must not delay the response. */
const SENDING = 2_000

/** Sends the message about an event from a request. A lost message is left to the sweeper, because the event is due. */
export const sendPromptly = async (
  { queues, log }: { queues: MessageQueues; log: Work['log'] },
  queue: QueueName,
  body: { kind: string },
  event: OutboxEvent,
): Promise<void> => {
  const sending = queues
    .send(queue, [{ body, group: event.workspace_id }])
    .catch((error) => log.warn('an event is left to the sweeper', { event_id: event.id, queue, error }))
  const timer = new AbortController()
  await Promise.race([sending, pause(SENDING, undefined, { signal: timer.signal }).catch(() => undefined)])
  timer.abort()
}
