import * as z from 'zod'
import { TelegramUser, telegramPerson } from '#shared/identity/people/index.ts'

/** Content of an update about one chat: a new or edited message, or a deletion. Nothing else in an update is stored. */
export type ThreadUpdate = MessageUpdate | DeletionUpdate

export interface MessageUpdate {
  kind: 'message'
  chat: { id: number; title: string; username: string | undefined }
  from: { id: number }
  messageId: number
  /** Epoch seconds. */
  date: number
  /** Time of an edit, in epoch seconds. */
  editedAt: number | undefined
  content: string
  text: string
  caption: string | undefined
  /** True for messages that the platform's own bot sent on behalf of the person. */
  byBot: boolean
}

export interface DeletionUpdate {
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

/** The fields of Telegram's `Message` that are read (core.telegram.org/bots/api#message). */
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

/** Kinds of content. `animation` comes first, because such messages also have a `document`. */
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

/** Telegram's maximum length, with room for the text added around it. */
const LONGEST = 8_000

/**
 * Parses a message of a private chat with a person.
 * @returns undefined for groups, channels, bots and unknown shapes
 */
export const readMessage = (given: unknown, edited: boolean): MessageUpdate | undefined => {
  const found = Message().safeParse(given).data
  if (!found) return undefined
  const { chat, text, caption } = found
  const { name } = telegramPerson(chat)
  const content = text !== undefined ? 'text' : (CONTENTS.find((kind) => found[kind] !== undefined) ?? 'other')
  return {
    kind: 'message',
    chat: { id: chat.id, title: name, username: chat.username },
    from: { id: found.from.id },
    messageId: found.message_id,
    date: found.date,
    editedAt: edited ? (found.edit_date ?? found.date) : undefined,
    content,
    text: plainText(text ?? (caption ? `[${content}] ${caption}` : `[${content}]`)),
    caption: caption === undefined ? undefined : plainText(caption),
    byBot: found.sender_business_bot !== undefined,
  }
}

const plainText = (text: string): string => text.toWellFormed().replaceAll('\u0000', '').slice(0, LONGEST)

export const readDeleted = (given: unknown): DeletionUpdate | undefined => {
  const found = Deleted().safeParse(given).data
  return found && { kind: 'deleted', chatId: found.chat.id, messageIds: found.message_ids }
}
