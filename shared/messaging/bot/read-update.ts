import * as z from 'zod'
import { type TelegramPerson, TelegramUser, telegramPerson } from '#shared/identity/people/index.ts'
import type { BotUpdateInput } from './schemas.ts'

/** A person's request to the bot. */
export type Asked = Said | Pressed

interface Said {
  kind: 'said'
  chatId: number
  person: TelegramPerson
  /** The start parameter: empty for a bare `/start`; undefined for any other text or an invalid parameter. */
  start: string | undefined
}

export interface Pressed {
  kind: 'pressed'
  chatId: number
  person: TelegramPerson
  queryId: string
  /** The message with the pressed button. */
  messageId: number
  data: string
}

const privateChat = () => z.object({ type: z.literal('private'), id: z.number() })

const Message = () => z.object({ chat: privateChat(), from: TelegramUser(), text: z.string() })

const Query = () =>
  z.object({
    id: z.string(),
    from: TelegramUser(),
    message: z.object({ chat: privateChat(), message_id: z.number() }),
    data: z.string(),
  })

/** A start parameter has at most 64 of these characters (core.telegram.org/bots/features#deep-linking). */
const START = /^\/start(?:@\w+)?(?: +([\w-]{1,64}))? *$/

/** Parses an update; undefined for updates that the bot ignores, such as those outside private chats. */
export const readUpdate = ({ message, callback_query }: BotUpdateInput): Asked | undefined => {
  const said = Message().safeParse(message).data
  if (said) {
    const found = START.exec(said.text)
    const start = found ? (found[1] ?? '') : undefined
    return { kind: 'said', chatId: said.chat.id, person: telegramPerson(said.from), start }
  }
  const query = Query().safeParse(callback_query).data
  if (!query) return undefined
  const { chat, message_id: messageId } = query.message
  return {
    kind: 'pressed',
    chatId: chat.id,
    person: telegramPerson(query.from),
    queryId: query.id,
    messageId,
    data: query.data,
  }
}
