import * as z from 'zod'
import { defineEntity } from '../table/entity.ts'
import { MESSENGER_STATUSES, messageSchema } from './conversations.ts'

/**
 * `pending`: the person has yet to connect the platform's bot in Telegram. `connecting`: the bot's webhook is being set.
 * `removing`: shown to nobody any more; a worker takes the webhook off and removes what belongs to it.
 */
const ACCOUNT_STATUSES = ['pending', 'connecting', 'active', 'disconnected', 'removing'] as const

const person = () => z.object({ id: z.string(), name: z.string() })

const account = () =>
  z.object({
    id: z.string(),
    workspace_id: z.string(),
    /** `bot`: a bot by its token. `user`: a person, through a Telegram Business connection with the platform's bot. */
    kind: z.enum(['bot', 'user']),
    status: z.enum(ACCOUNT_STATUSES),
    /** Why it is disconnected. */
    reason: z.string().optional(),
    /** The bot's id or the person's at Telegram. */
    telegram_id: z.number(),
    name: z.string(),
    username: z.string().optional(),
    /** Whose personal account it is. */
    user_id: z.string().optional(),
    /** Does the whole workspace see its chats? Always of a bot. */
    shared: z.boolean(),
    created_by: person(),
    /** Sealed JSON of a bot's token and webhook secret. */
    credentials: z.string().optional(),
    /** Of a personal account that is connected. */
    connection_id: z.string().optional(),
    can_reply: z.boolean(),
    /** The Bot API asked to be left alone until then. */
    blocked_until: z.number().optional(),
    /** Times that a worker failed to set or take off the webhook, one after the other. */
    tries: z.number().optional(),
    due_at: z.number().optional(),
    created_at: z.number(),
    updated_at: z.number(),
  })

export type Account = z.infer<ReturnType<typeof account>>

/** The accounts that all in a workspace see, or the further ones that one person sees. */
export const accountsOf = (workspaceId: string, userId?: string): string =>
  `WS#${workspaceId}#ACCOUNTS#${userId ?? 'shared'}`

/** Where an account is listed. */
export const accountPlace = ({ workspace_id, user_id, shared, id }: Account) => ({
  owner: accountsOf(workspace_id, shared ? undefined : user_id),
  sort: id,
})

/** A messenger account of a workspace. */
export const AccountEntity = defineEntity<Account>()({
  name: 'messenger-account',
  schema: account,
  pk: 'WS#{workspace_id}',
  sk: 'ACC#{id}',
  due: true,
  list: (item) => (item.status === 'removing' ? undefined : accountPlace(item)),
})

const webhook = () => z.object({ account_id: z.string(), workspace_id: z.string(), secret_hash: z.string() })

/** What an update of a customer's bot is checked by; its address names the account only. */
export const AccountWebhookEntity = defineEntity<z.infer<ReturnType<typeof webhook>>>()({
  name: 'messenger-webhook',
  schema: webhook,
  pk: 'ACC#{account_id}',
  sk: 'WEBHOOK',
})

const telegramPerson = () =>
  z.object({
    telegram_id: z.number(),
    /** The personal account here. */
    workspace_id: z.string().optional(),
    account_id: z.string().optional(),
    /** Their Business connection with the platform's bot that is enabled now, and since when (epoch seconds). */
    connection_id: z.string().optional(),
    connected_at: z.number().optional(),
    can_reply: z.boolean().optional(),
    /** Raised by each change, so that two workers do not overwrite one another. */
    revision: z.number(),
  })

export type TelegramPersonRecord = z.infer<ReturnType<typeof telegramPerson>>

/** What is known of a Telegram user: one personal account on the whole platform, and their Business connection. */
export const TelegramPersonEntity = defineEntity<TelegramPersonRecord>()({
  name: 'messenger-person',
  schema: telegramPerson,
  pk: 'TELEGRAM#{telegram_id}',
  sk: 'PERSON',
})

const connection = () => z.object({ connection_id: z.string(), telegram_id: z.number() })

/** A Telegram user's Business connections, those that are over too. */
export const connectionsOf = (telegramId: number): string => `TELEGRAM#${telegramId}#CONNECTIONS`

/** A Business connection → whose it is. */
export const BusinessConnectionEntity = defineEntity<z.infer<ReturnType<typeof connection>>>()({
  name: 'messenger-connection',
  schema: connection,
  pk: 'BUSINESS#{connection_id}',
  sk: 'CONNECTION',
  list: ({ telegram_id, connection_id }) => ({ owner: connectionsOf(telegram_id), sort: connection_id }),
})

const dialog = () =>
  z.object({
    id: z.string(),
    workspace_id: z.string(),
    account_id: z.string(),
    /** Telegram's id of the chat. */
    chat_id: z.number(),
    /** Where its messages are, and what the agent sees of it. */
    conversation_id: z.string(),
    title: z.string(),
    username: z.string().optional(),
    /** The agent that a person put onto it; the conversation names it, too. */
    installation_id: z.string().optional(),
    agent_name: z.string().optional(),
    last_message: z.object({ id: z.string(), text: z.string(), direction: z.enum(['in', 'out']) }).optional(),
    last_message_at: z.number(),
    last_incoming_at: z.number().optional(),
    /** Where the newest message that Telegram told of stands: the time in its id. The next one stands behind it. */
    last_placed: z.object({ telegram_message_id: z.number(), at: z.number() }).optional(),
    created_at: z.number(),
  })

export type Dialog = z.infer<ReturnType<typeof dialog>>

/** An account's chats, the latest spoken in first. */
export const dialogsOf = (accountId: string): string => `${accountId}#DIALOGS`

export const dialogPlace = ({
  account_id,
  last_message_at,
  id,
}: Pick<Dialog, 'account_id' | 'last_message_at' | 'id'>) => ({
  owner: dialogsOf(account_id),
  sort: `${String(last_message_at).padStart(13, '0')}#${id}`,
})

/** A chat of an account with somebody. */
export const DialogEntity = defineEntity<Dialog>()({
  name: 'messenger-dialog',
  schema: dialog,
  pk: 'WS#{workspace_id}',
  sk: 'DLG#{id}',
  list: dialogPlace,
})

const chat = () =>
  z.object({ account_id: z.string(), chat_id: z.number(), dialog_id: z.string(), conversation_id: z.string() })

/** Telegram's chat of an account → the chat here, of which there is one. */
export const DialogOfChatEntity = defineEntity<z.infer<ReturnType<typeof chat>>>()({
  name: 'messenger-chat',
  schema: chat,
  pk: 'ACC#{account_id}',
  sk: 'CHAT#{chat_id}',
})

const dialogMessage = () =>
  messageSchema().extend({
    dialog_id: z.string(),
    direction: z.enum(['in', 'out']),
    status: z.enum(MESSENGER_STATUSES),
    /** `text`, or the kind of what is only named here, such as `photo`. */
    content: z.string(),
    caption: z.string().optional(),
    telegram_message_id: z.number().optional(),
    /** Why it was not sent. */
    error: z.string().optional(),
    decided_by: person().optional(),
    sent_at: z.number().optional(),
    /** Telegram's time of the latest edit (epoch seconds). */
    edited_at: z.number().optional(),
    deleted_at: z.number().optional(),
  })

export type DialogMessage = z.infer<ReturnType<typeof dialogMessage>>

/** A message of a messenger chat: one of its conversation, with what only a chat's message has. */
export const DialogMessageEntity = defineEntity<DialogMessage>()({
  name: 'messenger-message',
  schema: dialogMessage,
  pk: 'CNV#{conversation_id}',
  sk: 'MSG#{id}',
})

const known = () =>
  z.object({
    dialog_id: z.string(),
    telegram_message_id: z.number(),
    /** Absent of one that was deleted before it came. */
    message_id: z.string().optional(),
  })

/** A message's id at Telegram → its id here: what comes twice is found by it. */
export const KnownMessageEntity = defineEntity<z.infer<ReturnType<typeof known>>>()({
  name: 'messenger-known-message',
  schema: known,
  pk: 'DLG#{dialog_id}',
  sk: 'TG#{telegram_message_id}',
})

const draftPlace = () =>
  z.object({ workspace_id: z.string(), message_id: z.string(), dialog_id: z.string(), conversation_id: z.string() })

/** Where an agent's draft is, which people name by its id alone. */
export const DraftEntity = defineEntity<z.infer<ReturnType<typeof draftPlace>>>()({
  name: 'messenger-draft',
  schema: draftPlace,
  pk: 'WS#{workspace_id}',
  sk: 'DRAFT#{message_id}',
})

const outgoing = () =>
  z.object({
    dialog_id: z.string(),
    /** Sorts as messages were given to be sent. */
    place: z.string(),
    workspace_id: z.string(),
    account_id: z.string(),
    conversation_id: z.string(),
    message_id: z.string(),
    /** `calling`: the Bot API may have got it. */
    state: z.enum(['waiting', 'calling']),
    /** Tries that reached nobody, or were asked to come later. */
    attempt: z.number(),
    /** Of `waiting`: not earlier. Of `calling`: whoever called has died then. */
    until: z.number().optional(),
    due_at: z.number().optional(),
    created_at: z.number(),
  })

export type Outgoing = z.infer<ReturnType<typeof outgoing>>

/** A message on its way out; a chat's go one after the other. */
export const OutgoingEntity = defineEntity<Outgoing>()({
  name: 'messenger-outgoing',
  schema: outgoing,
  pk: 'DLG#{dialog_id}',
  sk: 'OUT#{place}',
  due: true,
})
