import * as z from 'zod'
import { createdAt } from '#shared/table/created-at.ts'
import { defineEntity } from '#shared/table/entity.ts'

/**
 * `pending`: the person hasn't connected the platform's bot in Telegram yet. `connecting`: the bot's webhook is being set.
 * `removing`: no longer visible; a worker removes the webhook and the account's records.
 */
const ACCOUNT_STATUSES = ['pending', 'connecting', 'active', 'disconnected', 'removing'] as const

export const person = () => z.object({ id: z.string(), name: z.string() })

const account = () =>
  z.object({
    id: z.string(),
    workspace_id: z.string(),
    /** `bot`: a bot by its token. `user`: a person, through a Telegram Business connection with the platform's bot. */
    kind: z.enum(['bot', 'user']),
    status: z.enum(ACCOUNT_STATUSES),
    /** Reason that it is disconnected. */
    reason: z.string().optional(),
    /** Telegram's id of the bot or person. */
    telegram_id: z.number(),
    name: z.string(),
    username: z.string().optional(),
    /** Owner of a personal account. */
    user_id: z.string().optional(),
    /** Start of the membership in which they connected it. The account ends with it. */
    member_since: z.number().optional(),
    /** True if the whole workspace sees its threads. Always true for a bot. */
    shared: z.boolean(),
    created_by: person(),
    /** Sealed JSON of a bot's token and webhook secret. */
    credentials: z.string().optional(),
    /** Only for a connected personal account. */
    connection_id: z.string().optional(),
    can_reply: z.boolean(),
    /** Time until which the Bot API asked for no further calls. */
    blocked_until: z.number().optional(),
    /** Consecutive failures of a worker to set or remove the webhook. */
    tries: z.number().optional(),
    due_at: z.number().optional(),
    created_at: createdAt(),
    updated_at: z.number(),
  })

export type Account = z.infer<ReturnType<typeof account>>

/** Owner of the list of accounts that all members see, or of those that only one person sees. */
export const accountsOf = (workspaceId: string, userId?: string): string =>
  `WS#${workspaceId}#ACCOUNTS#${userId ?? 'shared'}`

/** Entry in the list of accounts. */
export const accountPlace = ({ workspace_id, user_id, shared, id }: Account) => ({
  owner: accountsOf(workspace_id, shared ? undefined : user_id),
  sort: id,
})

/** A messenger account of a workspace. */
export const AccountEntity = defineEntity({
  name: 'messenger-account',
  schema: account,
  pk: 'WS#{workspace_id}',
  sk: 'ACC#{id}',
  personal: { names: ['created_by'], contact: ['name', 'username', 'telegram_id'] },
  retention: {
    workspace: 'removed',
    person: 'kept',
    app: 'kept',
    partitions: ({ id }) => [['messenger-webhook', { account_id: id }]],
  },
  due: true,
  list: (item) => (item.status === 'removing' ? undefined : accountPlace(item)),
})

const thread = () =>
  z.object({
    id: z.string(),
    workspace_id: z.string(),
    account_id: z.string(),
    /** Telegram's id of the chat. */
    chat_id: z.number(),
    /** Conversation with its messages, as the agent sees it. */
    conversation_id: z.string(),
    title: z.string(),
    username: z.string().optional(),
    /** Agent that a person assigned to it. The conversation has it too. */
    installation_id: z.string().optional(),
    agent_name: z.string().optional(),
    last_message: z.object({ id: z.string(), text: z.string(), direction: z.enum(['in', 'out']) }).optional(),
    last_message_at: z.number(),
    last_incoming_at: z.number().optional(),
    /** Newest message reported by Telegram, with the time in its message id here. The next one gets a later time. */
    last_placed: z.object({ telegram_message_id: z.number(), at: z.number() }).optional(),
    created_at: createdAt(),
  })

export type Thread = z.infer<ReturnType<typeof thread>>

/** Owner of the list of an account's threads, most recently active first. */
export const threadsOf = (accountId: string): string => `${accountId}#DIALOGS`

export const threadPlace = ({
  account_id,
  last_message_at,
  id,
}: Pick<Thread, 'account_id' | 'last_message_at' | 'id'>) => ({
  owner: threadsOf(account_id),
  sort: `${String(last_message_at).padStart(13, '0')}#${id}`,
})

/** A thread of an account with an external contact. */
export const ThreadEntity = defineEntity({
  name: 'messenger-thread',
  schema: thread,
  pk: 'WS#{workspace_id}',
  sk: 'DLG#{id}',
  personal: { text: ['last_message'], contact: ['title', 'username'] },
  retention: {
    workspace: 'removed',
    person: 'kept',
    app: 'kept',
    partitions: ({ id, conversation_id }) => [
      ['messenger-known-message', { thread_id: id }],
      ['message', { conversation_id }],
    ],
  },
  list: threadPlace,
})
