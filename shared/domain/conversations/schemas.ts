import * as z from 'zod'
import { CONVERSATION_KINDS, type Conversation, type Message } from '../../entities/conversations.ts'
import { iso } from '../../kernel/clock.ts'
import { LIMITS } from '../../kernel/limits.ts'
import { idField, time } from '../fields.ts'

/** A conversation as the API shows it (decisions §8). */
export const ConversationSchema = () =>
  z
    .object({
      id: idField('cnv'),
      kind: z.enum(CONVERSATION_KINDS),
      title: z.string(),
      task_id: z.string().nullable().meta({ description: 'The task that it is about.' }),
      last_message_at: time().nullable(),
      created_at: time(),
    })
    .meta({ id: 'Conversation' })

export const MessageSchema = () =>
  z
    .object({
      id: idField('msg'),
      conversation_id: idField('cnv'),
      author: z.object({ type: z.enum(['user', 'agent', 'orchestrator']), id: z.string(), name: z.string() }),
      text: z.string(),
      attachments: z.array(
        z.object({ file_id: z.string(), name: z.string(), content_type: z.string(), size: z.number().int() }),
      ),
      run_id: z.string().nullable().meta({ description: 'The run in which an agent wrote it.' }),
      created_at: time(),
    })
    .meta({ id: 'Message' })

export const WriteMessage = () =>
  z
    .strictObject({
      text: z.string().trim().min(1, 'must not be empty').max(LIMITS.messageCharacters),
      attachments: z
        .array(z.string().max(64))
        .max(LIMITS.attachmentsPerMessage)
        .default([])
        .meta({ description: 'Ids of files of the workspace; attaching one needs files:read.' }),
    })
    .meta({ id: 'WriteMessage' })

export const presentConversation = (conversation: Conversation): z.infer<ReturnType<typeof ConversationSchema>> => ({
  id: conversation.id,
  kind: conversation.kind,
  title: conversation.title,
  task_id: conversation.task_id ?? null,
  last_message_at: conversation.last_message_at === undefined ? null : iso(conversation.last_message_at),
  created_at: iso(conversation.created_at),
})

export type MessageView = z.infer<ReturnType<typeof MessageSchema>>

export const presentMessage = (message: Message): MessageView => ({
  id: message.id,
  conversation_id: message.conversation_id,
  author: message.author,
  text: message.text,
  attachments: message.attachments,
  run_id: message.run_id ?? null,
  created_at: iso(message.created_at),
})
