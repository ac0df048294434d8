import type { Connections } from './connections.ts'
import type { Person } from './person.ts'

/** Actions of the Telegram Business page. A person has one connection at a time, and anyone may write to them. */
export const createBusiness = (connections: Connections) => ({
  /** Returns the page's state of a person. */
  stateOf: (person: Person) => {
    const { connection, chats = [] } = connections.ofPerson(person.id) ?? {}
    return {
      enabled: connection?.is_enabled ?? false,
      can_reply: connection?.rights.can_reply ?? false,
      chats: chats.map((chat) => ({ contact: chat.person.first_name, messages: chat.messages })),
      self: person.id,
    }
  },
  /** Connects, changes or disconnects the bot. Connecting after a disconnection creates a new connection. */
  set: (person: Person, { enabled, canReply }: { enabled: boolean; canReply: boolean }): void => {
    const { connection } = connections.ofPerson(person.id) ?? {}
    if (connection?.is_enabled) connections.change(connection.id, { enabled, canReply })
    else if (enabled) connections.connect(person, { canReply })
  },
  write: (person: Person, contact: Person, text: string, own: boolean): void => {
    const { connection } = connections.ofPerson(person.id) ?? {}
    if (!connection?.is_enabled || contact.id === person.id) throw new RangeError('contact')
    connections.say(connection.id, contact, text, { own })
  },
})
