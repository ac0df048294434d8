import { emitEvent } from '#shared/foundation/outbox/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { MINUTE } from '#shared/kernel/clock.ts'
import type { Write } from '#shared/table/entity.ts'
import { type Thread, ThreadEntity, threadPlace } from '#shared/work/threads/index.ts'
import { type Outgoing, OutgoingEntity, type ThreadMessage } from './entity.ts'
import type { MessengerEventType } from './events.ts'

/** Queues a message in its thread and wakes the worker. */
export const queueWrites = (
  work: Work,
  thread: Thread,
  { id: message_id, conversation_id }: ThreadMessage,
): Write[] => {
  const { id: thread_id, workspace_id, account_id } = thread
  const now = work.clock.now()
  const outgoing: Outgoing = {
    thread_id,
    // Ids sort by creation time, so a draft's place is the time of its approval.
    place: work.id('message'),
    workspace_id,
    account_id,
    conversation_id,
    message_id,
    state: 'waiting',
    attempt: 0,
    due_at: now + MINUTE,
    created_at: now,
  }
  return [
    OutgoingEntity.create(outgoing),
    emitEvent<MessengerEventType>(work.clock, {
      type: 'messenger.send',
      workspace_id,
      data: { workspace_id, thread_id },
    }),
  ]
}

/** Number of characters shown in lists of threads. */
const PREVIEW = 200

export const previewOf = ({ id, text, direction }: Pick<ThreadMessage, 'id' | 'text' | 'direction'>) => ({
  id,
  text: [...text].slice(0, PREVIEW).join(''),
  direction,
})

/** Moves a thread to the front with its latest message. */
export const touchThread = (
  work: Pick<Work, 'clock'>,
  thread: Thread,
  message: ThreadMessage,
  more: Partial<Thread> = {},
): Write => {
  const last_message_at = work.clock.now()
  return ThreadEntity.update(thread, {
    set: { ...more, last_message: previewOf(message), last_message_at },
    list: threadPlace({ ...thread, last_message_at }),
  })
}
