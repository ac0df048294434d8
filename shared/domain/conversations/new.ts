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
import { orchestratorId } from '../orchestrator/principal.ts'

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
  /** The run in which an agent writes it, or that answers a person's message. */
  run_id?: string | undefined
  error_code?: string | undefined
  approval?: Message['approval'] | undefined
  /** Its id and time, where every try has to write the same message. Default: new ones. */
  at?: { id: string; created_at: number } | undefined
  /** Who takes part from this message on, when that changes with it. */
  taker?: Pick<Conversation, 'installation_id' | 'installation_since'> | undefined
  /** Which agent is told, where that is another one than takes part by then. */
  listener?: string | undefined
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
  { author, text, attachments = [], run_id, error_code, approval, at, taker, listener, moved = notTheirs }: NewMessage,
): { message: Message; writes: Write[] } => {
  const { workspace_id } = conversation
  const now = work.clock.now()
  const message: Message = {
    id: at?.id ?? work.id('message'),
    conversation_id: conversation.id,
    workspace_id,
    author,
    text,
    attachments,
    run_id,
    error_code,
    approval,
    created_at: at?.created_at ?? now,
  }
  const last_message_at = Math.max(now, message.created_at)
  const after = { ...conversation, ...taker, last_message_at }
  const list = conversationPlace(after)
  return {
    message,
    writes: [
      MessageEntity.create(message),
      ConversationEntity.update(
        conversation,
        { set: { ...taker, last_message_at }, ...(list && { list }) },
        {
          // Another agent has it now: the message of the one before would bring it back into that one's list.
          where: { installation_id: conversation.installation_id ?? missing },
          otherwise: moved,
        },
      ),
      ...told(work, message, { ...after, installation_id: listener ?? after.installation_id }),
    ],
  }
}

const notTheirs = () => fail('not_found', { message: 'The conversation is not this agent’s any more.' })

/** The orchestrator is told by its runs alone. */
const told = (
  { clock }: Work,
  { id, conversation_id, workspace_id, text, author }: Message,
  { installation_id, user_id }: Conversation,
): Write[] =>
  installation_id === undefined || (user_id !== undefined && installation_id === orchestratorId(workspace_id, user_id))
    ? []
    : [
        tell(clock, {
          type: 'message.created',
          workspace_id,
          installation_id,
          private_to: user_id,
          data: { message_id: id, conversation_id, text, author },
        }),
      ]
