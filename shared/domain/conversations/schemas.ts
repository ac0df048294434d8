import * as z from 'zod'
import {
  CONVERSATION_KINDS,
  type Conversation,
  MESSENGER_STATUSES,
  type Message,
} from '../../entities/conversations.ts'
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
      author: z.object({
        type: z.enum(['user', 'agent', 'orchestrator', 'contact']),
        id: z.string(),
        name: z.string(),
      }),
      text: z.string(),
      attachments: z.array(
        z.object({ file_id: z.string(), name: z.string(), content_type: z.string(), size: z.number().int() }),
      ),
      status: z.enum(MESSENGER_STATUSES).nullable().meta({
        description:
          'Of a message in a messenger chat; null elsewhere. What an agent writes there is a `draft` until a person approves it.',
      }),
      run_id: z.string().nullable().meta({
        description:
          'The run in which an agent wrote it; of a person’s message in a chat, the run that answers it, null while it waits for its turn.',
      }),
      error_code: z
        .string()
        .nullable()
        .meta({ description: 'Where there is no answer: why the run failed.', example: 'agent_unreachable' }),
      approval: z
        .object({ step_id: idField('stp'), tool: z.string() })
        .nullable()
        .meta({ description: 'What the run waits for: to be decided by its person.' }),
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
  status: message.status ?? null,
  run_id: message.run_id ?? null,
  error_code: message.error_code ?? null,
  approval: message.approval ?? null,
  created_at: iso(message.created_at),
})

/** Who answers in a chat. */
const answeredBy = () =>
  z
    .object({
      type: z.enum(['orchestrator', 'agent']),
      installation_id: idField('ins').nullable().meta({ description: 'Null for the orchestrator.' }),
      name: z.string(),
      logo_url: z.string().nullable(),
    })
    .nullable()
    .meta({
      description: 'Who answers there: the agent, or the platform’s orchestrator; null for a task without an agent.',
    })

/** A conversation as a person sees it. */
export const PersonConversationSchema = () =>
  ConversationSchema().extend({ answered_by: answeredBy() }).meta({ id: 'PersonConversation' })

export type AnsweredBy = z.infer<ReturnType<typeof answeredBy>>

/** `POST /console/conversations`. */
export const OpenChat = () =>
  z
    .strictObject({ installation_id: z.string().meta({ example: 'ins_01kae5m1v8w6c3x9q2r7t4y0zn' }) })
    .meta({ id: 'OpenChat' })

/** `POST /console/conversations/{id}/messages`. */
export const SayMessage = () =>
  z
    .strictObject({
      text: z.string().trim().min(1, 'must not be empty').max(LIMITS.messageCharacters),
      attachments: z.array(z.string().max(64)).max(LIMITS.attachmentsPerMessage).default([]).meta({
        description:
          'Ids of files of the workspace. Whoever answers is told their names, and reads them with files:read.',
      }),
    })
    .meta({ id: 'SayMessage' })
