import * as z from 'zod'
import { idField, time } from '#shared/foundation/schemas/index.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { MESSENGER_STATUSES } from '#shared/work/conversations/index.ts'

const named = () => z.object({ id: z.string(), name: z.string() })

/** A messenger account as shown in the console. Never includes its token. */
export const AccountSchema = () =>
  z
    .object({
      id: idField('acc'),
      kind: z
        .enum(['bot', 'user'])
        .meta({ description: '`user`: a personal account, connected through Telegram Business.' }),
      status: z.enum(['pending', 'connecting', 'active', 'disconnected']).meta({
        description:
          '`pending`: the person must complete the steps in `connect`. `connecting`: the webhook is being set up. ' +
          '`disconnected`: no messages are sent or received; see `reason`.',
      }),
      reason: z.enum(['token_revoked', 'webhook_refused', 'connection_ended', 'left_workspace']).nullable(),
      name: z.string().meta({ example: 'Support of Example Ltd' }),
      username: z.string().nullable().meta({ description: 'Without `@`.', example: 'example_support_bot' }),
      user_id: z.string().nullable().meta({ description: 'The owner of a personal account. Null for a bot.' }),
      shared: z.boolean().meta({ description: 'True if the whole workspace sees its threads. Always true for a bot.' }),
      can_reply: z
        .boolean()
        .meta({ description: 'True if messages can be sent. Telegram’s `rights.can_reply` of the connection.' }),
      connect: z
        .object({
          url: z.string().meta({ description: 'The platform’s bot.', example: 'https://t.me/example_bot' }),
          username: z
            .string()
            .meta({ description: 'The bot’s username to enter in Telegram, without `@`.', example: 'example_bot' }),
          steps: z.array(z.string()).meta({ description: 'Steps for the person to take in Telegram, in order.' }),
        })
        .nullable()
        .meta({ description: 'How to connect a pending account. Null for any other account, and in lists.' }),
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
        .regex(/^[1-9]\d{0,19}:[\w-]{16,128}$/, 'must be a bot token from @BotFather, such as 123456789:AbC…')
        .meta({ description: 'Token from @BotFather. It is stored encrypted and never shown again.', writeOnly: true }),
      take_over: z.boolean().default(false).meta({
        description:
          'Connect the bot even if its updates currently go to another address, which then stops receiving them.',
      }),
    })
    .meta({ id: 'ConnectMessengerBot' })

export type ConnectBotInput = z.infer<ReturnType<typeof ConnectBot>>

export const ConnectUser = () =>
  z
    .strictObject({
      shared: z.boolean().default(false).meta({ description: 'Let the whole workspace see and reply to its threads.' }),
    })
    .meta({ id: 'ConnectMessengerUser' })

export const ShareAccount = () => z.strictObject({ shared: z.boolean() }).meta({ id: 'ShareMessengerAccount' })

/** A thread with a person outside the workspace. */
export const ThreadSchema = () =>
  z
    .object({
      id: idField('dlg'),
      account_id: idField('acc'),
      kind: z.literal('private').meta({ description: 'Groups and channels aren’t supported.' }),
      title: z.string().meta({ description: 'The other person’s name, as last reported by Telegram.' }),
      username: z.string().nullable(),
      agent: z
        .object({ installation_id: idField('ins'), name: z.string() })
        .nullable()
        .meta({ description: 'The agent that reads the thread and drafts replies.' }),
      conversation_id: idField('cnv').meta({
        description: 'The conversation through which the agent reads the thread.',
      }),
      reply_until: time().nullable().meta({
        description: 'End of Telegram’s reply window for a personal account’s thread. Null if there is no limit.',
      }),
      last_message: z
        .object({ id: idField('msg'), text: z.string(), direction: z.enum(['in', 'out']) })
        .nullable()
        .meta({ description: 'The latest message, with the first 200 characters of its text.' }),
      last_message_at: time(),
      created_at: time(),
    })
    .meta({ id: 'MessengerChat' })

export type ThreadView = z.infer<ReturnType<typeof ThreadSchema>>

export const AssignAgent = () =>
  z
    .strictObject({
      installation_id: z
        .string()
        .max(64)
        .nullable()
        .meta({ description: 'The agent to assign. Null removes the current agent.' }),
    })
    .meta({ id: 'AssignMessengerAgent' })

export const ThreadMessageSchema = () =>
  z
    .object({
      id: idField('msg'),
      chat_id: idField('dlg'),
      direction: z.enum(['in', 'out']),
      status: z.enum(MESSENGER_STATUSES).meta({
        description:
          '`draft`: needs a person’s approval. `sending`: queued. `failed`: rejected by Telegram, see `error`. ' +
          '`unknown`: Telegram didn’t answer and may or may not have sent it. It isn’t retried.',
      }),
      author: z.object({
        type: z
          .enum(['user', 'agent', 'orchestrator', 'contact'])
          .meta({ description: '`contact`: the person outside the workspace.' }),
        id: z.string(),
        name: z.string(),
      }),
      text: z.string().meta({ description: 'For content other than text: its kind in brackets, and the caption.' }),
      content: z
        .string()
        .meta({ description: '`text`, or the kind of content: `photo`, `sticker`, `voice`, …', example: 'text' }),
      caption: z.string().nullable(),
      error: z
        .string()
        .nullable()
        .meta({ description: 'The reason why it wasn’t sent, as reported by the Bot API if it answered.' }),
      decided_by: named().nullable().meta({ description: 'The person who approved or rejected the draft.' }),
      run_id: z.string().nullable().meta({ description: 'The run in which an agent wrote the message.' }),
      edited_at: time().nullable(),
      deleted_at: time()
        .nullable()
        .meta({ description: 'Time when it was deleted in Telegram. Its text is deleted here, too.' }),
      sent_at: time().nullable(),
      created_at: time(),
    })
    .meta({ id: 'MessengerMessage' })

export type ThreadMessageView = z.infer<ReturnType<typeof ThreadMessageSchema>>

/** Telegram counts characters, while JavaScript counts UTF-16 code units. */
const text = () =>
  z
    .string()
    .trim()
    .min(1, 'must not be empty')
    .max(2 * LIMITS.messengerText)
    .refine(
      (given) => [...given].length <= LIMITS.messengerText,
      `must have at most ${LIMITS.messengerText} characters`,
    )

export const WriteThreadMessage = () => z.strictObject({ text: text() }).meta({ id: 'WriteMessengerMessage' })

export const ApproveDraft = () =>
  z
    .strictObject({ text: text().optional().meta({ description: 'Text to send instead of the draft’s.' }) })
    .meta({ id: 'ApproveMessengerDraft' })

/** An update of the Bot API for a customer's bot. */
export const AccountUpdate = () =>
  z
    .object({
      update_id: z.int().nonnegative(),
      message: z.unknown().optional(),
      edited_message: z.unknown().optional(),
    })
    .meta({ id: 'MessengerUpdate', description: 'See core.telegram.org/bots/api#update. Other fields are ignored.' })
