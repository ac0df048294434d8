import { emitEvent } from '#shared/foundation/outbox/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import type { Write } from '#shared/table/entity.ts'
import { missing } from '#shared/table/expressions.ts'
import type { ConversationEventType } from '#shared/work/conversations/index.ts'
import { ConversationEntity, conversationPlace } from '#shared/work/conversations/index.ts'
import { type Account, accountPrivateTo, type Thread } from '#shared/work/threads/index.ts'
import { type ThreadMessage, ThreadMessageEntity } from './entity.ts'

/**
 * Adds a message to an existing thread and moves its conversation to the front of the agent's list. The write fails if
 * the assigned agent changes at the same moment.
 */
export const messageWrites = (work: Work, thread: Thread, message: ThreadMessage): Write[] => {
  const { workspace_id, conversation_id: id, installation_id } = thread
  const last_message_at = work.clock.now()
  const list = conversationPlace({ id, installation_id, last_message_at, created_at: thread.created_at })
  return [
    ThreadMessageEntity.create(message),
    ConversationEntity.update(
      { workspace_id, id },
      { set: { last_message_at }, ...(list && { list }) },
      { where: { installation_id: installation_id ?? missing } },
    ),
  ]
}

/** Notifies the thread's agent, if it has one. */
export const agentEventWrites = (
  work: Work,
  account: Account,
  { workspace_id, installation_id }: Thread,
  message: ThreadMessage,
): Write[] => {
  const { id: message_id, conversation_id, text, author, created_at: at } = message
  if (installation_id === undefined) return []
  const data = { message_id, conversation_id, text, author }
  const private_to = accountPrivateTo(account)
  return [
    emitEvent<ConversationEventType>(work.clock, {
      type: 'message.created',
      workspace_id,
      installation_id,
      private_to,
      data,
      at,
    }),
  ]
}
