import * as z from 'zod'
import { type TelegramPerson, TelegramUser, telegramPerson } from '#shared/identity/people/index.ts'
import type { BotUpdateInput } from './schemas.ts'

/** A person's request to the bot. */
export type Asked = Said | Pressed

export interface Said {
  kind: 'said'
  chatId: number
  person: TelegramPerson
  /** The start parameter: empty for a bare `/start`; undefined for any other text or an invalid parameter. */
  start: string | undefined
  text: string
  /** The bot's message that the person replied to, if any. */
  repliedTo: BotMessage | undefined
}

/** A message of the bot in a person's chat. */
export interface BotMessage {
  id: number
  text: string
  buttons: { text: string; data: string }[]
}

export interface Pressed {
  kind: 'pressed'
  chatId: number
  person: TelegramPerson
  queryId: string
  /** The message with the pressed button. */
  message: BotMessage
  data: string
}

const privateChat = () => z.object({ type: z.literal('private'), id: z.number() })

/** A message of a bot. Telegram leaves out all but the id of messages that are too old. */
const FromBot = () =>
  z
    .object({
      message_id: z.number(),
      text: z.string().catch(''),
      reply_markup: z
        .object({
          inline_keyboard: z.array(z.array(z.object({ text: z.string(), callback_data: z.string().optional() }))),
        })
        .catch({ inline_keyboard: [] }),
    })
    .transform(
      ({ message_id: id, text, reply_markup }): BotMessage => ({
        id,
        text,
        buttons: reply_markup.inline_keyboard
          .flat()
          .flatMap(({ text: label, callback_data: data }) => (data === undefined ? [] : [{ text: label, data }])),
      }),
    )

const Message = () =>
  z.object({ chat: privateChat(), from: TelegramUser(), text: z.string(), reply_to_message: z.unknown().optional() })

const Query = () =>
  z.object({ id: z.string(), from: TelegramUser(), message: z.object({ chat: privateChat() }), data: z.string() })

/** A start parameter has at most 64 of these characters (core.telegram.org/bots/features#deep-linking). */
const START = /^\/start(?:@\w+)?(?: +([\w-]{1,64}))? *$/

/**
 * Parses an update; undefined for updates that the bot ignores, such as those outside private chats.
 * @param botId sender of the messages that can be replied to. Inline bots can put buttons of their own into a chat.
 */
export const readUpdate = ({ message, callback_query }: BotUpdateInput, botId: string): Asked | undefined => {
  const written = Message().safeParse(message).data
  if (written) {
    const found = START.exec(written.text)
    const start = found ? (found[1] ?? '') : undefined
    const { chat, from, text, reply_to_message } = written
    const sender = z.object({ from: z.object({ id: z.number() }) }).safeParse(reply_to_message).data?.from.id
    const repliedTo = String(sender) === botId ? FromBot().safeParse(reply_to_message).data : undefined
    return { kind: 'said', chatId: chat.id, person: telegramPerson(from), start, text, repliedTo }
  }
  const query = Query().safeParse(callback_query).data
  const pressed = FromBot().safeParse((callback_query as { message?: unknown } | undefined)?.message).data
  if (!query || !pressed) return undefined
  return {
    kind: 'pressed',
    chatId: query.message.chat.id,
    person: telegramPerson(query.from),
    queryId: query.id,
    message: pressed,
    data: query.data,
  }
}
