import * as z from 'zod'
import { defineEntity } from '../table/entity.ts'

export const CONVERSATION_KINDS = ['main', 'agent', 'task', 'person'] as const

const conversation = () =>
  z.object({
    id: z.string(),
    workspace_id: z.string(),
    /** `main`: a person and the orchestrator. `agent`: a person and an agent. `task`: about a task. `person`: a messenger dialog. */
    kind: z.enum(CONVERSATION_KINDS),
    title: z.string(),
    /** The agent that takes part; only it reads and writes here. */
    installation_id: z.string().optional(),
    /** From when on it takes part in a `main` conversation: what was said to others before is not its to see. */
    installation_since: z.number().optional(),
    task_id: z.string().optional(),
    /** The messenger chat of a `person` conversation. */
    dialog_id: z.string().optional(),
    /** The person of a `main` or `agent` conversation. */
    user_id: z.string().optional(),
    last_message_at: z.number().optional(),
    created_at: z.number(),
  })

export type Conversation = z.infer<ReturnType<typeof conversation>>

/** An agent's conversations, the latest spoken in first. */
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

export const ConversationEntity = defineEntity<Conversation>()({
  name: 'conversation',
  schema: conversation,
  pk: 'WS#{workspace_id}',
  sk: 'CNV#{id}',
  list: conversationPlace,
})

const attachment = () => z.object({ file_id: z.string(), name: z.string(), content_type: z.string(), size: z.number() })

/**
 * What became of a message of a messenger chat. `received`: from the other side. `draft`: waits for a person. `sending`: waits
 * for its turn. `unknown`: Telegram may or may not have got it.
 */
export const MESSENGER_STATUSES = ['received', 'draft', 'sending', 'sent', 'failed', 'unknown', 'rejected'] as const

export const messageSchema = () =>
  z.object({
    id: z.string(),
    conversation_id: z.string(),
    workspace_id: z.string(),
    author: z.object({ type: z.enum(['user', 'agent', 'orchestrator', 'contact']), id: z.string(), name: z.string() }),
    text: z.string(),
    attachments: z.array(attachment()),
    /** Of a messenger chat’s message only. */
    status: z.enum(MESSENGER_STATUSES).optional(),
    /** The run in which an agent wrote it; of a person's message in a chat, the run that answers it. */
    run_id: z.string().optional(),
    /** Why there is no answer: the code of the run that failed. */
    error_code: z.string().optional(),
    /** What the run waits for a person to decide. */
    approval: z.object({ step_id: z.string(), tool: z.string() }).optional(),
    created_at: z.number(),
  })

export type Message = z.infer<ReturnType<typeof messageSchema>>

export const MessageEntity = defineEntity<Message>()({
  name: 'message',
  schema: messageSchema,
  pk: 'CNV#{conversation_id}',
  sk: 'MSG#{id}',
})

const personChat = () =>
  z.object({ workspace_id: z.string(), user_id: z.string(), place: z.string(), conversation_id: z.string() })

/** A person's own chats in a workspace: the main one, then those with agents, the newest first. Written with the chat. */
export const PersonChatEntity = defineEntity<z.infer<ReturnType<typeof personChat>>>()({
  name: 'person-chat',
  schema: personChat,
  pk: 'WS#{workspace_id}',
  sk: 'CHAT#{user_id}#{place}',
})

const chat = () =>
  z.object({
    conversation_id: z.string(),
    workspace_id: z.string(),
    /** The run that answers now, and which message; absent while none does. */
    run_id: z.string().optional(),
    run_installation_id: z.string().optional(),
    message_id: z.string().optional(),
    /** Messages that wait for their turn. */
    waiting: z.number(),
    /** By when the sweep looks: while anything is open. */
    due_at: z.number().optional(),
  })

export type Chat = z.infer<ReturnType<typeof chat>>

/** How far a chat is with answering: one message after the other. Made by its first message. */
export const ChatEntity = defineEntity<Chat>()({
  name: 'chat',
  schema: chat,
  pk: 'CNV#{conversation_id}',
  sk: 'CHAT',
  due: true,
})

const waitingMessage = () => z.object({ conversation_id: z.string(), message_id: z.string() })

/** A message that waits until those before it are answered; the oldest is next. */
export const WaitingMessageEntity = defineEntity<z.infer<ReturnType<typeof waitingMessage>>>()({
  name: 'waiting-message',
  schema: waitingMessage,
  pk: 'CNV#{conversation_id}',
  sk: 'WAITING#{message_id}',
})
