import type { Keyboard } from './keyboard.ts'
import { firstNumber } from './numbers.ts'
import type { Person } from './person.ts'

/** Telegram's `User` of a bot. */
export interface BotUser {
  id: number
  is_bot: true
  first_name: string
  username: string
}

/** Telegram's `Message`, from a private chat and with text. */
export interface Message {
  message_id: number
  from: Person | BotUser
  chat: { id: number; type: 'private'; first_name: string; last_name?: string; username?: string }
  /** In epoch seconds. */
  date: number
  edit_date?: number
  text: string
  entities?: { type: 'bot_command'; offset: number; length: number }[]
  reply_markup?: Keyboard
  /** The message that this one replies to, without what that one replied to. */
  reply_to_message?: Message
}

/** One person's thread with the bot. */
export interface Chat {
  person: Person
  messages: Message[]
  /** The person has blocked the bot. */
  blocked: boolean
}

/** All threads, in memory. */
export interface Chats {
  /** Returns the person's thread, created at their first message. The bot cannot find it before that. */
  open(person: Person): Chat
  find(id: number): Chat | undefined
  all(): Chat[]
  add(chat: Chat, from: Person | BotUser, text: string, keyboard?: Keyboard, repliedTo?: Message): Message
  edit(chat: Chat, message: Message, text: string, keyboard?: Keyboard): Message
  setBlocked(chat: Chat, blocked: boolean): void
  /**
   * Registers a listener for every change of one thread.
   * @returns a function that removes it
   */
  watch(id: number, listener: () => void): () => void
}

const COMMAND = /^\/[a-z0-9_]{1,32}(?=$|[\s@])/i

const commandIn = (text: string) => {
  const [command] = COMMAND.exec(text) ?? []
  return command ? { entities: [{ type: 'bot_command' as const, offset: 0, length: command.length }] } : {}
}

export const createChats = (now: () => number): Chats => {
  const chats = new Map<number, Chat>()
  const listeners = new Map<number, Set<() => void>>()
  let next = firstNumber()
  const seconds = () => Math.floor(now() / 1_000)
  const changed = ({ person }: Chat) => {
    for (const listener of listeners.get(person.id) ?? []) listener()
  }
  const withKeyboard = (keyboard: Keyboard | undefined) => (keyboard ? { reply_markup: keyboard } : {})

  const replyTo = (repliedTo: Message | undefined) => {
    if (!repliedTo) return {}
    const { reply_to_message: _, ...message } = repliedTo
    return { reply_to_message: message }
  }

  return {
    open: (person) => {
      const chat = chats.get(person.id) ?? { person, messages: [], blocked: false }
      // Names change, but the id stays the same.
      chat.person = person
      chats.set(person.id, chat)
      return chat
    },
    find: (id) => chats.get(id),
    all: () => [...chats.values()],
    add: (chat, from, text, keyboard, repliedTo) => {
      const { id, first_name, last_name, username } = chat.person
      const names = { first_name, ...(last_name && { last_name }), ...(username && { username }) }
      next += 1
      const message: Message = {
        message_id: next,
        from,
        chat: { id, type: 'private', ...names },
        date: seconds(),
        text,
        ...commandIn(text),
        ...withKeyboard(keyboard),
        ...replyTo(repliedTo),
      }
      chat.messages.push(message)
      changed(chat)
      return message
    },
    edit: (chat, message, text, keyboard) => {
      const { reply_markup: _, ...rest } = message
      const edited: Message = { ...rest, edit_date: seconds(), text, ...withKeyboard(keyboard) }
      chat.messages.splice(chat.messages.indexOf(message), 1, edited)
      changed(chat)
      return edited
    },
    setBlocked: (chat, blocked) => {
      chat.blocked = blocked
      changed(chat)
    },
    watch: (id, listener) => {
      const set = listeners.get(id) ?? new Set()
      listeners.set(id, set.add(listener))
      return () => set.delete(listener)
    },
  }
}
