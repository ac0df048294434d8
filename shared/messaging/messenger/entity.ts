import * as z from 'zod'
import { defineEntity } from '#shared/table/entity.ts'
import { MESSENGER_STATUSES, messageSchema } from '#shared/work/conversations/index.ts'
import { person } from '#shared/work/threads/index.ts'

const webhook = () => z.object({ account_id: z.string(), workspace_id: z.string(), secret_hash: z.string() })

/** Verifies updates of a customer's bot. The webhook's URL only identifies the account. */
export const AccountWebhookEntity = defineEntity({
  name: 'messenger-webhook',
  schema: webhook,
  pk: 'ACC#{account_id}',
  sk: 'WEBHOOK',
  personal: 'none',
  retention: { workspace: 'removed', person: 'kept', app: 'kept' },
})

const telegramPerson = () =>
  z.object({
    telegram_id: z.number(),
    /** Their personal account on this platform. */
    workspace_id: z.string().optional(),
    account_id: z.string().optional(),
    /** Their enabled Business connection with the platform's bot, and when it started (epoch seconds). */
    connection_id: z.string().optional(),
    connected_at: z.number().optional(),
    can_reply: z.boolean().optional(),
    /** Incremented by every change, so that workers don't overwrite each other. */
    revision: z.number(),
  })

export type TelegramPersonRecord = z.infer<ReturnType<typeof telegramPerson>>

/** A Telegram user: their only personal account on the platform, and their Business connection. */
export const TelegramPersonEntity = defineEntity({
  name: 'messenger-person',
  schema: telegramPerson,
  pk: 'TELEGRAM#{telegram_id}',
  sk: 'PERSON',
  personal: { contact: ['telegram_id'] },
  retention: { workspace: 'kept', person: 'removed', app: 'kept' },
})

const connection = () => z.object({ connection_id: z.string(), telegram_id: z.number() })

/** List of a Telegram user's Business connections, including ended ones. */
export const connectionsOf = (telegramId: number): string => `TELEGRAM#${telegramId}#CONNECTIONS`

/** Maps a Business connection to its Telegram user. */
export const BusinessConnectionEntity = defineEntity({
  name: 'messenger-connection',
  schema: connection,
  pk: 'BUSINESS#{connection_id}',
  sk: 'CONNECTION',
  personal: { contact: ['telegram_id'] },
  retention: { workspace: 'kept', person: 'removed', app: 'kept' },
  list: ({ telegram_id, connection_id }) => ({ owner: connectionsOf(telegram_id), sort: connection_id }),
})

const chat = () =>
  z.object({ account_id: z.string(), chat_id: z.number(), thread_id: z.string(), conversation_id: z.string() })

/** Maps an account's Telegram chat to its only thread. */
export const ThreadOfChatEntity = defineEntity({
  name: 'messenger-chat',
  schema: chat,
  pk: 'ACC#{account_id}',
  sk: 'CHAT#{chat_id}',
  personal: 'none',
  retention: { workspace: 'removed', person: 'kept', app: 'kept' },
})

const threadMessage = () =>
  messageSchema().extend({
    thread_id: z.string(),
    direction: z.enum(['in', 'out']),
    status: z.enum(MESSENGER_STATUSES),
    /** `text`, or the kind of content that isn't stored, such as `photo`. */
    content: z.string(),
    caption: z.string().optional(),
    telegram_message_id: z.number().optional(),
    /** Reason why it wasn't sent. */
    error: z.string().optional(),
    decided_by: person().optional(),
    sent_at: z.number().optional(),
    /** Time of the latest edit at Telegram (epoch seconds). */
    edited_at: z.number().optional(),
    deleted_at: z.number().optional(),
  })

export type ThreadMessage = z.infer<ReturnType<typeof threadMessage>>

/** A message of a thread: a conversation message with additional fields. */
export const ThreadMessageEntity = defineEntity({
  name: 'messenger-message',
  schema: threadMessage,
  pk: 'CNV#{conversation_id}',
  sk: 'MSG#{id}',
  personal: { names: ['author', 'decided_by'], text: ['text', 'caption', 'attachments'] },
  retention: { workspace: 'removed', person: 'kept', app: 'kept' },
})

const known = () =>
  z.object({
    thread_id: z.string(),
    telegram_message_id: z.number(),
    /** Absent for a message that was deleted before it arrived. */
    message_id: z.string().optional(),
  })

/** Maps a message's id at Telegram to its id here, to detect duplicates. */
export const KnownMessageEntity = defineEntity({
  name: 'messenger-known-message',
  schema: known,
  pk: 'DLG#{thread_id}',
  sk: 'TG#{telegram_message_id}',
  personal: 'none',
  retention: { workspace: 'removed', person: 'kept', app: 'kept' },
})

const draftPlace = () =>
  z.object({ workspace_id: z.string(), message_id: z.string(), thread_id: z.string(), conversation_id: z.string() })

/** Location of an agent's draft, for lookups by draft id alone. */
export const DraftEntity = defineEntity({
  name: 'messenger-draft',
  schema: draftPlace,
  pk: 'WS#{workspace_id}',
  sk: 'DRAFT#{message_id}',
  personal: 'none',
  retention: { workspace: 'removed', person: 'kept', app: 'kept' },
})

const outgoing = () =>
  z.object({
    thread_id: z.string(),
    /** Sorts in the order in which messages were queued. */
    place: z.string(),
    workspace_id: z.string(),
    account_id: z.string(),
    conversation_id: z.string(),
    message_id: z.string(),
    /** `calling`: the Bot API may have received it. */
    state: z.enum(['waiting', 'calling']),
    /** Attempts that didn't reach Telegram or were rate limited. */
    attempt: z.number(),
    /** For `waiting`, the earliest time to send. For `calling`, the time after which the worker counts as lost. */
    until: z.number().optional(),
    due_at: z.number().optional(),
    created_at: z.number(),
  })

export type Outgoing = z.infer<ReturnType<typeof outgoing>>

/** An outgoing message in a thread's queue. A thread sends one message at a time. */
export const OutgoingEntity = defineEntity({
  name: 'messenger-outgoing',
  schema: outgoing,
  pk: 'DLG#{thread_id}',
  sk: 'OUT#{place}',
  personal: 'none',
  retention: { workspace: 'removed', person: 'kept', app: 'kept' },
  due: true,
})
