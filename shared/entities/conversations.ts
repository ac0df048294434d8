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
    task_id: z.string().optional(),
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

const message = () =>
  z.object({
    id: z.string(),
    conversation_id: z.string(),
    workspace_id: z.string(),
    author: z.object({ type: z.enum(['user', 'agent', 'orchestrator']), id: z.string(), name: z.string() }),
    text: z.string(),
    attachments: z.array(attachment()),
    /** The run in which an agent wrote it. */
    run_id: z.string().optional(),
    created_at: z.number(),
  })

export type Message = z.infer<ReturnType<typeof message>>

export const MessageEntity = defineEntity<Message>()({
  name: 'message',
  schema: message,
  pk: 'CNV#{conversation_id}',
  sk: 'MSG#{id}',
})
