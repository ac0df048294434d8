import * as z from 'zod'
import { TelegramUser, telegramPerson } from '../people/telegram/person.ts'

/** What is told of one chat: a message, new or edited, or that messages were deleted. Nothing else is kept of an update. */
export type News = MessageNews | DeletedNews

export interface MessageNews {
  kind: 'message'
  chat: { id: number; title: string; username: string | undefined }
  from: { id: number }
  messageId: number
  /** Epoch seconds. */
  date: number
  /** Of an edit: when, epoch seconds. */
  editedAt: number | undefined
  content: string
  text: string
  caption: string | undefined
  /** Sent by a bot in the person's name: the platform's own. */
  byBot: boolean
}

export interface DeletedNews {
  kind: 'deleted'
  chatId: number
  messageIds: number[]
}

const PrivateChat = () => z.object({ id: z.int().positive(), type: z.literal('private') }).extend(nameShape())

const nameShape = () => ({
  first_name: z.string().optional(),
  last_name: z.string().optional(),
  username: z.string().optional(),
})

/** Telegram's `Message`, as far as it is read (core.telegram.org/bots/api#message). */
const Message = () =>
  z.looseObject({
    message_id: z.int().positive(),
    date: z.int().nonnegative(),
    edit_date: z.int().nonnegative().optional(),
    chat: PrivateChat(),
    from: TelegramUser(),
    sender_business_bot: z.unknown().optional(),
    text: z.string().optional(),
    caption: z.string().optional(),
  })

const Deleted = () => z.object({ chat: PrivateChat(), message_ids: z.array(z.int().positive()).max(1_000) })

/** Contents that are named; `animation` comes with a `document`, and so stands before it. */
const CONTENTS = [
  'animation',
  'audio',
  'photo',
  'sticker',
  'story',
  'video',
  'video_note',
  'voice',
  'document',
  'contact',
  'dice',
  'game',
  'poll',
  'venue',
  'location',
  'invoice',
  'gift',
  'checklist',
] as const

/** Telegram's longest, with room for what is added around it. */
const LONGEST = 8_000

/**
 * Reads a message of a private chat with a person.
 * @returns undefined for groups, channels, bots and whatever has another shape
 */
export const readMessage = (given: unknown, edited: boolean): MessageNews | undefined => {
  const found = Message().safeParse(given).data
  if (!found) return undefined
  const { chat, text, caption } = found
  const { name } = telegramPerson(chat)
  const content = text !== undefined ? 'text' : (CONTENTS.find((kind) => found[kind] !== undefined) ?? 'other')
  // What is no message of anybody's, such as that somebody pinned one.
  if (content === 'other' && caption === undefined && !edited && !found.message_id) return undefined
  return {
    kind: 'message',
    chat: { id: chat.id, title: name, username: chat.username },
    from: { id: found.from.id },
    messageId: found.message_id,
    date: found.date,
    editedAt: edited ? (found.edit_date ?? found.date) : undefined,
    content,
    text: plain(text ?? (caption ? `[${content}] ${caption}` : `[${content}]`)),
    caption: caption === undefined ? undefined : plain(caption),
    byBot: found.sender_business_bot !== undefined,
  }
}

const plain = (text: string): string => text.toWellFormed().replaceAll('\u0000', '').slice(0, LONGEST)

export const readDeleted = (given: unknown): DeletedNews | undefined => {
  const found = Deleted().safeParse(given).data
  return found && { kind: 'deleted', chatId: found.chat.id, messageIds: found.message_ids }
}
