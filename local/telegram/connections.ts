import { randomBytes } from 'node:crypto'
import { type BotUser, type Chat, type Chats, createChats, type Message } from './chats.ts'
import { badRequest, TelegramError } from './error.ts'
import type { Person } from './person.ts'
import type { Updates } from './updates.ts'

/** Telegram's `BusinessConnection`. */
export interface BusinessConnection {
  id: string
  user: Person
  user_chat_id: number
  /** In epoch seconds. */
  date: number
  rights: { can_reply?: true }
  is_enabled: boolean
}

const DAY_SECONDS = 86_400

export interface ConnectionsOptions {
  user: BotUser
  updates: Updates
  now: () => number
  /** Called for every new or changed connection. */
  onChange: () => void
}

/** Creates the actions of people who connected the bot to their own account (Telegram Business). */
export const createConnections = ({ user, updates, now, onChange }: ConnectionsOptions) => {
  const listeners = new Set<() => void>()
  const changed = () => {
    for (const listener of listeners) listener()
  }
  const connections = new Map<string, { connection: BusinessConnection; chats: Chats }>()
  const seconds = () => Math.floor(now() / 1_000)
  const known = (id: string) => {
    const found = connections.get(id)
    // TDLib's message for an unknown connection. telegram-bot-api changes its first letter to lower case.
    if (!found) throw badRequest('business connection not found')
    return found
  }
  const tell = (connection: BusinessConnection) => {
    onChange()
    changed()
    return updates.push(connection.user.id, { business_connection: { ...connection } })
  }
  const inChat = (id: string, message: Message, byBot = false) => ({
    ...message,
    business_connection_id: id,
    ...(byBot && { sender_business_bot: user }),
  })

  return {
    get: (id: string): BusinessConnection => known(id).connection,
    all: (): BusinessConnection[] => [...connections.values()].map(({ connection }) => connection),
    /** Returns the person's latest connection, with the people who wrote to them. */
    ofPerson: (personId: number): { connection: BusinessConnection; chats: Chat[] } | undefined => {
      const theirs = [...connections.values()].filter(({ connection }) => connection.user.id === personId).at(-1)
      return theirs && { connection: theirs.connection, chats: theirs.chats.all() }
    },
    /** Restores a connection from before a restart. */
    restore: (connection: BusinessConnection): void =>
      void connections.set(connection.id, { connection, chats: createChats(now) }),
    /**
     * Registers a listener for every change of a connection or its threads.
     * @returns a function that removes it
     */
    watch: (listener: () => void) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    /** Adds the bot in the person's settings. */
    connect: (person: Person, { canReply = true }: { canReply?: boolean } = {}) => {
      const connection: BusinessConnection = {
        id: randomBytes(18).toString('base64url'),
        user: person,
        user_chat_id: person.id,
        date: seconds(),
        rights: canReply ? { can_reply: true } : {},
        is_enabled: true,
      }
      connections.set(connection.id, { connection, chats: createChats(now) })
      return { connection, updateId: tell(connection) }
    },
    /** Changes the bot's permissions, or disconnects it. */
    change: (id: string, { canReply, enabled }: { canReply?: boolean; enabled?: boolean }): number => {
      const { connection } = known(id)
      if (canReply !== undefined) connection.rights = canReply ? { can_reply: true } : {}
      if (enabled !== undefined) connection.is_enabled = enabled
      return tell(connection)
    },
    /** Writes a message from a contact to the person, or (`own`) from the person to the contact. */
    say: (id: string, contact: Person, text: string, { own = false }: { own?: boolean } = {}) => {
      const { connection, chats } = known(id)
      const message = chats.add(chats.open(contact), own ? connection.user : contact, text)
      changed()
      const business_message = inChat(id, message)
      return { message, updateId: updates.push(contact.id, { business_message }) }
    },
    edit: (id: string, contact: Person, message: Message, text: string): number => {
      const { chats } = known(id)
      const edited_business_message = inChat(id, chats.edit(chats.open(contact), message, text))
      changed()
      return updates.push(contact.id, { edited_business_message })
    },
    remove: (id: string, contact: Person, messageIds: number[]): number => {
      const chat = known(id).chats.open(contact)
      for (const messageId of messageIds) {
        const at = chat.messages.findIndex((each) => each.message_id === messageId)
        if (at >= 0) chat.messages.splice(at, 1)
      }
      changed()
      const { first_name, last_name, username } = contact
      const deleted_business_messages = {
        business_connection_id: id,
        chat: { id: contact.id, type: 'private', first_name, last_name, username },
        message_ids: messageIds,
      }
      return updates.push(contact.id, { deleted_business_messages })
    },
    /** Returns the messages of a thread, oldest first. */
    chat: (id: string, contact: Person): Message[] => [...(known(id).chats.find(contact.id)?.messages ?? [])],
    /**
     * Runs `sendMessage` in the person's name. The first three errors are TDLib's (`check_business_connection`), the
     * others the server's (core.telegram.org/method/messages.sendMessage).
     */
    send: (id: string, contactId: number, text: string): unknown => {
      const { connection, chats } = known(id)
      if (!(contactId > 0)) throw badRequest('chat must be a private chat')
      if (contactId === connection.user.id) throw badRequest('messages must not be sent to self')
      if (!connection.is_enabled) throw badRequest('BUSINESS_CONNECTION_INVALID')
      if (!connection.rights.can_reply) throw new TelegramError(403, 'Forbidden: BOT_ACCESS_FORBIDDEN')
      const chat = chats.find(contactId)
      if (!chat) throw badRequest('BUSINESS_PEER_INVALID')
      if (!wroteRecently(chat, seconds())) throw badRequest('BUSINESS_PEER_USAGE_MISSING')
      const sent = inChat(id, chats.add(chat, connection.user, text), true)
      changed()
      return sent
    },
  }
}

export type Connections = ReturnType<typeof createConnections>

const wroteRecently = ({ messages, person }: Chat, now: number): boolean =>
  messages.some(({ from, date }) => from.id === person.id && now - date < DAY_SECONDS)
