import * as z from 'zod'
import { createdAt } from '#shared/table/created-at.ts'
import { defineEntity } from '#shared/table/entity.ts'

export const CONVERSATION_KINDS = ['main', 'agent', 'task', 'person'] as const

const authorFields = () =>
  z.object({ type: z.enum(['user', 'agent', 'orchestrator', 'contact']), id: z.string(), name: z.string() })

const textParts = () =>
  z.array(
    z.union([
      z.string(),
      z.object({ text: z.string(), values: z.record(z.string(), z.union([z.string(), z.number()])).optional() }),
    ]),
  )

const conversation = () =>
  z.object({
    id: z.string(),
    workspace_id: z.string(),
    /** `main`: person and orchestrator. `agent`: person and agent. `task`: about a task. `person`: a messenger thread. */
    kind: z.enum(CONVERSATION_KINDS),
    title: z.string(),
    /** Agent that takes part. Only this agent reads and writes here. */
    installation_id: z.string().optional(),
    /** Time from which it takes part in a `main` conversation. It can't read earlier messages to other agents. */
    installation_since: z.number().optional(),
    task_id: z.string().optional(),
    /** Messenger thread of a `person` conversation. */
    thread_id: z.string().optional(),
    /** The person of a `main` or `agent` conversation, and of a task that only they see. */
    user_id: z.string().optional(),
    last_message_at: z.number().optional(),
    /** The latest message: its id, its author and the beginning of its text. */
    last_message_id: z.string().optional(),
    last_author: authorFields().optional(),
    last_text: z.string().optional(),
    /** The latest message, if the platform wrote it. */
    last_parts: textParts().optional(),
    created_at: createdAt(),
  })

export type Conversation = z.infer<ReturnType<typeof conversation>>

/** Place in the list of an agent's conversations, most recently active first. */
export const conversationPlace = ({
  installation_id,
  last_message_at,
  created_at,
  id,
}: Pick<Conversation, 'installation_id' | 'last_message_at' | 'created_at' | 'id'>) =>
  installation_id === undefined
    ? undefined
    : {
        owner: `${installation_id}#CONVERSATIONS`,
        sort: `${String(last_message_at ?? created_at).padStart(13, '0')}#${id}`,
      }

export const ConversationEntity = defineEntity({
  name: 'conversation',
  schema: conversation,
  pk: 'WS#{workspace_id}',
  sk: 'CNV#{id}',
  personal: { names: ['last_author'], text: ['title', 'last_text', 'last_parts'] },
  retention: {
    workspace: 'removed',
    person: 'kept',
    app: 'kept',
    partitions: ({ id }) => [['message', { conversation_id: id }]],
  },
  list: conversationPlace,
})

/** File that is attached to a message or a task, as it was then. */
export const attachmentFields = () =>
  z.object({ file_id: z.string(), name: z.string(), content_type: z.string(), size: z.number() })

/**
 * Status of a message in a messenger thread. `received`: from the other side. `draft`: waits for a person's approval.
 * `sending`: queued. `unknown`: Telegram may or may not have received it.
 */
export const MESSENGER_STATUSES = ['received', 'draft', 'sending', 'sent', 'failed', 'unknown', 'rejected'] as const

export const messageSchema = () =>
  z.object({
    id: z.string(),
    conversation_id: z.string(),
    workspace_id: z.string(),
    author: authorFields(),
    /** English if the platform wrote it. */
    text: z.string(),
    /** Parts of a text of the platform, which each person gets in their language. */
    parts: textParts().optional(),
    attachments: z.array(attachmentFields()),
    /** Agent that a person mentioned, and that answers this message instead of the conversation's own. */
    mention: z.object({ installation_id: z.string(), name: z.string() }).optional(),
    /** Only for a message in a messenger thread. */
    status: z.enum(MESSENGER_STATUSES).optional(),
    /** Run in which an agent wrote it. For a person's message in a chat, the run that answers it. */
    run_id: z.string().optional(),
    /** Error code of the failed run, if there is no answer. */
    error_code: z.string().optional(),
    /** Approval that the run waits for. */
    approval: z.object({ step_id: z.string(), tool: z.string() }).optional(),
    /** Step of the run whose questions this message shows. */
    question: z.object({ step_id: z.string() }).optional(),
    created_at: createdAt(),
  })

export type Message = z.infer<ReturnType<typeof messageSchema>>

export const MessageEntity = defineEntity({
  name: 'message',
  schema: messageSchema,
  pk: 'CNV#{conversation_id}',
  sk: 'MSG#{id}',
  personal: { names: ['author'], text: ['text', 'parts', 'attachments'] },
  retention: { workspace: 'removed', person: 'kept', app: 'kept' },
})

const personChat = () =>
  z.object({ workspace_id: z.string(), user_id: z.string(), place: z.string(), conversation_id: z.string() })

/** A person's own chat in a workspace. The main chat sorts first, then those with agents, newest first. */
export const PersonChatEntity = defineEntity({
  name: 'person-chat',
  schema: personChat,
  pk: 'WS#{workspace_id}',
  sk: 'CHAT#{user_id}#{place}',
  personal: 'none',
  retention: { workspace: 'removed', person: 'removed', app: 'kept' },
})

const readMark = () =>
  z.object({
    workspace_id: z.string(),
    user_id: z.string(),
    conversation_id: z.string(),
    /** Latest message that the person has seen; empty if they follow the conversation and haven't read it. */
    message_id: z.string(),
  })

/** Latest message of a conversation that a person has read. */
export const ReadMarkEntity = defineEntity({
  name: 'read-mark',
  schema: readMark,
  pk: 'WS#{workspace_id}',
  sk: 'READ#{user_id}#{conversation_id}',
  personal: 'none',
  retention: { workspace: 'removed', person: 'removed', app: 'kept' },
})
