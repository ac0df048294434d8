import * as z from 'zod'
import { logoPathField } from '#shared/catalogue/logos/index.ts'
import { idField, time } from '#shared/foundation/schemas/index.ts'
import { iso } from '#shared/kernel/clock.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { textOf } from '#shared/kernel/messages.ts'
import { CONVERSATION_KINDS, type Conversation, MESSENGER_STATUSES, type Message } from './entity.ts'

/** A conversation as the API shows it (contract/tasks-files-conversations.md#conversations). */
export const ConversationSchema = () =>
  z
    .object({
      id: idField('cnv'),
      kind: z.enum(CONVERSATION_KINDS),
      title: z.string(),
      task_id: z.string().nullable().meta({ description: 'Task that the conversation is about.' }),
      last_message_at: time().nullable(),
      created_at: time(),
    })
    .meta({ id: 'Conversation' })

/** File as it was when it was attached. */
export const AttachmentSchema = () =>
  z
    .object({ file_id: z.string(), name: z.string(), content_type: z.string(), size: z.number().int() })
    .meta({ id: 'Attachment' })

/** Has a name, because generators number an unnamed item after its list. */
const attachedFileId = () => z.string().max(64).meta({ id: 'AttachedFileId' })

/** Ids of files in a request. */
export const attachmentIds = () =>
  z.array(attachedFileId()).max(LIMITS.attachmentsPerMessage).meta({ description: 'Ids of files of the workspace.' })

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
      attachments: z.array(AttachmentSchema()),
      mention: z
        .object({ installation_id: z.string(), name: z.string() })
        .nullable()
        .meta({ description: 'Agent that the person mentioned.', example: null }),
      status: z.enum(MESSENGER_STATUSES).nullable().meta({
        description:
          'Status in a messenger thread; null elsewhere. An agent’s message is a `draft` until a person approves it.',
      }),
      run_id: z.string().nullable().meta({
        description:
          'Run in which an agent wrote it, or that answers a person’s message in a chat; null while it waits.',
      }),
      error_code: z
        .string()
        .nullable()
        .meta({ description: 'Reason that there is no answer.', example: 'agent_unreachable' }),
      approval: z
        .object({ step_id: idField('stp'), tool: z.string() })
        .nullable()
        .meta({ description: 'Approval that the run waits for.', example: null }),
      question: z
        .object({ step_id: idField('stp') })
        .nullable()
        .meta({ description: 'Step with the questions that the run asked.', example: null }),
      created_at: time(),
    })
    .meta({ id: 'Message' })

export const WriteMessage = () =>
  z
    .strictObject({
      text: z.string().trim().min(1, 'must not be empty').max(LIMITS.messageCharacters),
      attachments: z
        .array(attachedFileId())
        .max(LIMITS.attachmentsPerMessage)
        .default([])
        .meta({ description: 'Ids of files of the workspace. Requires the scope `files:read`.' }),
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

/** @param locale language of the reader, in which texts of the platform are. Agents read them in English. */
export const presentMessage = (message: Message, locale = 'en'): MessageView => ({
  id: message.id,
  conversation_id: message.conversation_id,
  author: message.author,
  text: message.parts ? textOf(message.parts, locale) : message.text,
  attachments: message.attachments,
  mention: message.mention ?? null,
  status: message.status ?? null,
  run_id: message.run_id ?? null,
  error_code: message.error_code ?? null,
  approval: message.approval ?? null,
  question: message.question ?? null,
  created_at: iso(message.created_at),
})

/** Agent that answers in a conversation. */
const answeredBy = () =>
  z
    .object({
      type: z.enum(['orchestrator', 'agent']),
      installation_id: idField('ins').nullable().meta({ description: 'Null for the orchestrator.' }),
      name: z.string(),
      logo_url: z.string().nullable(),
      logo_path: logoPathField(),
    })
    .nullable()
    .meta({
      description: 'The agent that answers, or the platform’s orchestrator; null for a task without an agent.',
    })

const lastMessage = () =>
  z
    .object({
      author: z.object({
        type: z.enum(['user', 'agent', 'orchestrator', 'contact']),
        id: z.string(),
        name: z.string(),
      }),
      text: z.string().meta({ description: 'The beginning, up to 140 characters.' }),
    })
    .nullable()
    .meta({ description: 'The latest message; null if there is none, or none since previews exist.' })

/** A conversation as a person sees it. */
export const PersonConversationSchema = () =>
  ConversationSchema()
    .extend({
      answered_by: answeredBy(),
      last_message: lastMessage(),
      unread: z.boolean().meta({
        description:
          'The latest message is somebody else’s, and you haven’t read it. In a task’s conversation only if you ' +
          'created the task or have opened the conversation.',
      }),
      match: z
        .object({ message_id: idField('msg'), text: z.string(), created_at: time() })
        .nullable()
        .meta({ description: 'With `q`, the latest message that matches, with up to 200 characters; otherwise null.' }),
    })
    .meta({ id: 'PersonConversation' })

/** The filter `q` of messages and conversations. */
export const searchWords = () =>
  z.string().trim().min(1, 'must not be empty').max(200).optional().meta({
    description:
      'Words in the text, the author’s name or the names of attached files, without regard to case and accents.',
  })

/** Body of `PUT /console/conversations/{id}/read`. */
export const MarkRead = () =>
  z
    .strictObject({ message_id: idField('msg').max(64).meta({ description: 'Latest message that you have seen.' }) })
    .meta({ id: 'MarkRead' })

export type AnsweredBy = z.infer<ReturnType<typeof answeredBy>>

/** Body of `POST /console/conversations`. */
export const OpenChat = () =>
  z
    .strictObject({
      installation_id: z.string().meta({ example: 'ins_01kae5m1v8w6c3x9q2r7t4y0zn' }),
      new: z.boolean().optional().meta({ description: 'Begins a further conversation with the agent.' }),
    })
    .meta({ id: 'OpenChat' })

/** Body of `POST /console/conversations/{id}/messages`. */
export const SayMessage = () =>
  z
    .strictObject({
      text: z.string().trim().min(1, 'must not be empty').max(LIMITS.messageCharacters),
      attachments: z.array(attachedFileId()).max(LIMITS.attachmentsPerMessage).default([]).meta({
        description:
          'Ids of files of the workspace. The agent gets their names, and needs the scope `files:read` to read them.',
      }),
      mention: z
        .string()
        .max(64)
        .optional()
        .meta({
          description:
            'Installation of another agent that answers this message instead of the conversation’s own. It needs the ' +
            'scopes `chat:read` and `chat:write`, and sees this message only.',
        }),
    })
    .meta({ id: 'SayMessage', example: { text: 'How many are left?', attachments: [] } })
