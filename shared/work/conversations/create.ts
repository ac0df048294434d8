import { orchestratorId } from '#shared/access/orchestrator/index.ts'
import { emitEvent } from '#shared/foundation/outbox/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { stampOf } from '#shared/kernel/ids.ts'
import { type Parts, textOf } from '#shared/kernel/messages.ts'
import { truncate } from '#shared/kernel/truncate.ts'
import type { Write } from '#shared/table/entity.ts'
import { missing } from '#shared/table/expressions.ts'
import { type Conversation, ConversationEntity, conversationPlace, type Message, MessageEntity } from './entity.ts'
import type { ConversationEventType } from './events.ts'

export type NewConversation = Omit<Conversation, 'id' | 'created_at' | 'last_message_at'>

/** Characters of the latest message that a list of conversations shows. */
const PREVIEW = 140

/** Returns the beginning of a text. Its line breaks stay, because Markdown can't be read without them. */
export const previewOf = (text: string): string =>
  truncate(
    text
      .slice(0, 2 * PREVIEW)
      .replaceAll(/[^\S\n]+/g, ' ')
      .replaceAll(/ ?\n\s*/g, '\n')
      .trim(),
    PREVIEW,
  )

/** Creates a conversation, with writes for the caller's transaction. */
export const newConversation = (
  work: Work,
  input: NewConversation,
): { conversation: Conversation; writes: Write[] } => {
  const conversation: Conversation = { ...input, ...stampOf(work.id('conversation')) }
  return { conversation, writes: [ConversationEntity.create(conversation)] }
}

export interface NewMessage {
  author: Message['author']
  /** Parts if the platform writes it, which each reader gets in their language. */
  text: string | Parts
  attachments?: Message['attachments']
  mention?: Message['mention'] | undefined
  /** Run in which an agent writes it, or run that answers a person's message. */
  run_id?: string | undefined
  error_code?: string | undefined
  approval?: Message['approval'] | undefined
  question?: Message['question'] | undefined
  /** Id for callers whose every attempt must write the same message. Default: a new one. */
  id?: string | undefined
  /** Agent that takes part from this message on, if it changes. */
  taker?: Pick<Conversation, 'installation_id' | 'installation_since'> | undefined
  /** Agent that gets the event, if it isn't the one that takes part. */
  listener?: string | undefined
  /** True if the caller retries after another agent took over the conversation. Default: that is `not_found`. */
  retried?: true | undefined
}

/**
 * Creates a message in an existing conversation, and the event `message.created` for the agent that takes part. It moves
 * the conversation to the front of the agent's list.
 */
export const newMessage = (
  work: Work,
  conversation: Conversation,
  {
    author,
    text: given,
    attachments = [],
    mention,
    run_id,
    error_code,
    approval,
    question,
    id = work.id('message'),
    taker,
    listener,
    retried,
  }: NewMessage,
): { message: Message; writes: Write[] } => {
  const { workspace_id } = conversation
  const parts = typeof given === 'string' ? undefined : [...given]
  const text = typeof given === 'string' ? given : textOf(given, 'en')
  const message: Message = {
    ...stampOf(id),
    conversation_id: conversation.id,
    workspace_id,
    author,
    text,
    parts,
    attachments,
    mention,
    run_id,
    error_code,
    approval,
    question,
  }
  const last_message_at = Math.max(work.clock.now(), message.created_at)
  const after = { ...conversation, ...taker, last_message_at }
  const list = conversationPlace(after)
  return {
    message,
    writes: [
      MessageEntity.create(message),
      ConversationEntity.update(
        conversation,
        {
          set: {
            ...taker,
            last_message_at,
            last_message_id: message.id,
            last_author: author,
            last_text: previewOf(text),
            last_parts: parts,
          },
          ...(list && { list }),
        },
        {
          // If another agent took over, this write would put the conversation back into the previous agent's list.
          where: { installation_id: conversation.installation_id ?? missing },
          otherwise: retried ? undefined : notTheirs,
        },
      ),
      ...messageEvents(work, message, { ...after, installation_id: listener ?? after.installation_id }),
    ],
  }
}

const notTheirs = () => fail('not_found', { message: 'Another agent has taken over this conversation.' })

/** Returns the outbox event for the agent. The orchestrator gets none, because its runs contain the message. */
const messageEvents = (
  { clock }: Work,
  { id, conversation_id, workspace_id, text, author, run_id, created_at: at }: Message,
  { installation_id, user_id }: Conversation,
): Write[] =>
  installation_id === undefined || (user_id !== undefined && installation_id === orchestratorId(workspace_id, user_id))
    ? []
    : [
        emitEvent<ConversationEventType>(clock, {
          type: 'message.created',
          workspace_id,
          installation_id,
          private_to: user_id,
          ...(author.type === 'agent' && run_id !== undefined && { caused_by: { installation_id, run_id } }),
          data: { message_id: id, conversation_id, text, author },
          at,
        }),
      ]
