import * as z from 'zod'
import { MESSENGER_STATUSES } from '../../entities/conversations.ts'
import { LIMITS } from '../../kernel/limits.ts'
import { idField, time } from '../fields.ts'

const named = () => z.object({ id: z.string(), name: z.string() })

/** A messenger account as the console shows it. Its token is never part of it. */
export const AccountSchema = () =>
  z
    .object({
      id: idField('acc'),
      kind: z.enum(['bot', 'user']).meta({ description: '`user`: a personal account, through Telegram Business.' }),
      status: z.enum(['pending', 'connecting', 'active', 'disconnected']).meta({
        description:
          '`pending`: the person has yet to do what `connect` says. `connecting`: Telegram is yet to take the webhook. ' +
          '`disconnected`: nothing comes in or goes out; `reason` says why.',
      }),
      reason: z.enum(['token_revoked', 'webhook_refused', 'connection_ended', 'left_workspace']).nullable(),
      name: z.string().meta({ example: 'Support of Example Ltd' }),
      username: z.string().nullable().meta({ description: 'Without `@`.', example: 'example_support_bot' }),
      user_id: z.string().nullable().meta({ description: 'Whose personal account it is; null for a bot.' }),
      shared: z.boolean().meta({ description: 'Does the whole workspace see its chats? Always of a bot.' }),
      can_reply: z
        .boolean()
        .meta({ description: 'May messages go out? Telegram’s `rights.can_reply` of a connection.' }),
      connect: z
        .object({
          url: z.string().meta({ description: 'The platform’s bot.', example: 'https://t.me/example_bot' }),
          username: z.string().meta({ description: 'What to type there, without `@`.', example: 'example_bot' }),
          steps: z.array(z.string()).meta({ description: 'What the person does in Telegram, in order.' }),
        })
        .nullable()
        .meta({ description: 'How a pending account is connected; null for any other, and in lists.' }),
      created_by: named(),
      created_at: time(),
    })
    .meta({ id: 'MessengerAccount' })

export type AccountView = z.infer<ReturnType<typeof AccountSchema>>

export const ConnectBot = () =>
  z
    .strictObject({
      token: z
        .string()
        .trim()
        .regex(/^[1-9]\d{0,19}:[\w-]{16,128}$/, 'must be a bot’s token from @BotFather, such as 123456789:AbC…')
        .meta({ description: 'From @BotFather. It is kept encrypted and never shown again.', writeOnly: true }),
      take_over: z
        .boolean()
        .default(false)
        .meta({ description: 'Connect it although it sends its updates elsewhere, which then gets no more of them.' }),
    })
    .meta({ id: 'ConnectMessengerBot' })

export type ConnectBotInput = z.infer<ReturnType<typeof ConnectBot>>

export const ConnectUser = () =>
  z
    .strictObject({
      shared: z.boolean().default(false).meta({ description: 'Let the whole workspace see and answer its chats.' }),
    })
    .meta({ id: 'ConnectMessengerUser' })

export const ShareAccount = () => z.strictObject({ shared: z.boolean() }).meta({ id: 'ShareMessengerAccount' })

/** A chat with somebody outside. */
export const ChatSchema = () =>
  z
    .object({
      id: idField('dlg'),
      account_id: idField('acc'),
      kind: z.literal('private').meta({ description: 'Groups and channels are left alone.' }),
      title: z.string().meta({ description: 'The other person’s name as Telegram gave it last.' }),
      username: z.string().nullable(),
      agent: z
        .object({ installation_id: idField('ins'), name: z.string() })
        .nullable()
        .meta({ description: 'The agent that reads it and drafts answers.' }),
      conversation_id: idField('cnv').meta({ description: 'The conversation as that agent sees it.' }),
      reply_until: time().nullable().meta({
        description: 'Until when Telegram lets a personal account’s chat be answered; null: no limit.',
      }),
      last_message: z
        .object({ id: idField('msg'), text: z.string(), direction: z.enum(['in', 'out']) })
        .nullable()
        .meta({ description: 'Its first 200 characters.' }),
      last_message_at: time(),
      created_at: time(),
    })
    .meta({ id: 'MessengerChat' })

export type ChatView = z.infer<ReturnType<typeof ChatSchema>>

export const AssignAgent = () =>
  z
    .strictObject({
      installation_id: z.string().max(64).nullable().meta({ description: 'null takes the agent off the chat.' }),
    })
    .meta({ id: 'AssignMessengerAgent' })

export const ChatMessageSchema = () =>
  z
    .object({
      id: idField('msg'),
      chat_id: idField('dlg'),
      direction: z.enum(['in', 'out']),
      status: z.enum(MESSENGER_STATUSES).meta({
        description:
          '`draft`: waits for a person. `sending`: waits for its turn. `failed`: Telegram refused it, see `error`. ' +
          '`unknown`: Telegram did not answer and may or may not have sent it; it is not sent again by itself.',
      }),
      author: z.object({
        type: z.enum(['user', 'agent', 'orchestrator', 'contact']).meta({ description: '`contact`: the other side.' }),
        id: z.string(),
        name: z.string(),
      }),
      text: z.string().meta({ description: 'Of what is no text: its kind in brackets, and the caption.' }),
      content: z
        .string()
        .meta({ description: '`text`, or what it is: `photo`, `sticker`, `voice`, …', example: 'text' }),
      caption: z.string().nullable(),
      error: z.string().nullable().meta({ description: 'Why it was not sent, in the Bot API’s words where it spoke.' }),
      decided_by: named().nullable().meta({ description: 'Who approved or rejected the draft.' }),
      run_id: z.string().nullable().meta({ description: 'The run in which an agent wrote it.' }),
      edited_at: time().nullable(),
      deleted_at: time().nullable().meta({ description: 'Deleted in Telegram; its text is gone here, too.' }),
      sent_at: time().nullable(),
      created_at: time(),
    })
    .meta({ id: 'MessengerMessage' })

export type ChatMessageView = z.infer<ReturnType<typeof ChatMessageSchema>>

/** Telegram counts characters, not the halves that JavaScript counts. */
const text = () =>
  z
    .string()
    .trim()
    .min(1, 'must not be empty')
    .max(2 * LIMITS.messengerText)
    .refine((given) => [...given].length <= LIMITS.messengerText, `has more than ${LIMITS.messengerText} characters`)

export const WriteChatMessage = () => z.strictObject({ text: text() }).meta({ id: 'WriteMessengerMessage' })

export const ApproveDraft = () =>
  z
    .strictObject({ text: text().optional().meta({ description: 'Sent in place of the draft’s.' }) })
    .meta({ id: 'ApproveMessengerDraft' })

/** An update of the Bot API to a customer’s bot. */
export const AccountUpdate = () =>
  z
    .object({
      update_id: z.int().nonnegative(),
      message: z.unknown().optional(),
      edited_message: z.unknown().optional(),
    })
    .meta({ id: 'MessengerUpdate', description: 'core.telegram.org/bots/api#update; what is not listed is ignored.' })
