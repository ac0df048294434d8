import {
  type Conversation,
  ConversationEntity,
  conversationPlace,
  type Message,
  MessageEntity,
} from '../../entities/conversations.ts'
import { tell } from '../../events/outbox.ts'
import { fail } from '../../kernel/errors.ts'
import type { Write } from '../../table/entity.ts'
import { missing } from '../../table/expressions.ts'
import type { Work } from '../deps.ts'

export type NewConversation = Omit<Conversation, 'id' | 'created_at' | 'last_message_at'>

/** A new conversation, for the transaction of what it is about. */
export const newConversation = (
  work: Work,
  input: NewConversation,
): { conversation: Conversation; writes: Write[] } => {
  const conversation: Conversation = { ...input, id: work.id('conversation'), created_at: work.clock.now() }
  return { conversation, writes: [ConversationEntity.create(conversation)] }
}

export interface NewMessage {
  author: Message['author']
  text: string
  attachments?: Message['attachments']
  /** The run in which an agent writes it. */
  run_id?: string | undefined
  /** Thrown when another agent has the conversation by now; `not_found` without it. */
  moved?: (() => Error) | undefined
}

/**
 * A message of a conversation that exists, and the event `message.created` to the agent that takes part. It moves the
 * conversation to the front of the agent's list.
 */
export const newMessage = (
  work: Work,
  conversation: Conversation,
  { author, text, attachments = [], run_id, moved = notTheirs }: NewMessage,
): { message: Message; writes: Write[] } => {
  const { workspace_id, installation_id } = conversation
  const now = work.clock.now()
  const message: Message = {
    id: work.id('message'),
    conversation_id: conversation.id,
    workspace_id,
    author,
    text,
    attachments,
    run_id,
    created_at: now,
  }
  const list = conversationPlace({ ...conversation, last_message_at: now })
  return {
    message,
    writes: [
      MessageEntity.create(message),
      ConversationEntity.update(
        conversation,
        { set: { last_message_at: now }, ...(list && { list }) },
        {
          // Another agent has it now: the message of the one before would bring it back into that one's list.
          where: { installation_id: installation_id ?? missing },
          otherwise: moved,
        },
      ),
      ...(installation_id === undefined ? [] : [told(work, message, installation_id)]),
    ],
  }
}

const notTheirs = () => fail('not_found', { message: 'The conversation is not this agent’s any more.' })

const told = (work: Work, { id, conversation_id, workspace_id, text, author }: Message, installation_id: string) =>
  tell(work.clock, {
    type: 'message.created',
    workspace_id,
    installation_id,
    data: { message_id: id, conversation_id, text, author },
  })
