import { setTimeout as pause } from 'node:timers/promises'
import type { MessageQueues } from '#shared/kernel/ports/queues.ts'
import type { QueueName } from '#shared/kernel/queue-names.ts'
import type { OutboxEvent } from '../outbox/entity.ts'
import type { Work } from '../work/work.ts'
import type { BusMessage } from './bus-message.ts'

/** Time in ms for which a request waits until its message is sent. A queue that doesn't answer must not delay the response. */
const SENDING = 2_000

/**
 * Sends an event to a queue from a request. A lost message is left to the sweeper, because the event's record, or its run, is due.
 * @param run what the event's run refers to
 */
export const sendPromptly = async (
  { queues, log }: { queues: MessageQueues; log: Work['log'] },
  queue: QueueName,
  event: OutboxEvent,
  run?: BusMessage['run'],
): Promise<void> => {
  const body = { 'detail-type': event.type, detail: event, ...(run && { run }) } satisfies BusMessage
  const sending = queues
    .send(queue, [{ body, group: event.workspace_id }])
    .catch((error) => log.warn('an event is left to the sweeper', { event_id: event.id, queue, error }))
  const timer = new AbortController()
  await Promise.race([sending, pause(SENDING, undefined, { signal: timer.signal }).catch(() => undefined)])
  timer.abort()
}
