import { type BotUser, type Chat, createChats, type Message } from './chats.ts'
import { createConnections } from './connections.ts'
import { HangUp, TelegramError, tooManyRequests } from './error.ts'
import { type Args, createMethods, type Presses, type Result } from './methods.ts'
import type { Person } from './person.ts'
import { createPress } from './press.ts'
import { createSigner } from './signing.ts'
import { createUpdates } from './updates.ts'

/**
 * A simulated failure of a call. A 429 carries the seconds to wait. `hang_up` runs the call but closes the connection
 * without a response.
 */
export type Failure = { retry_after: number } | { error_code: number; description: string } | { hang_up: true }

export interface BotOptions {
  /** Token in BotFather's format, `<id>:<text>`. */
  token: string
  /** Without the `@`; 5–32 letters, digits and underscores. */
  username: string
  /** Display name. */
  name?: string
}

export interface Around {
  now: () => number
  retryDelaysMs: number[]
  /** Maps a webhook's address to its real address. */
  reach: (url: string) => string
  /** Origin of the platform's public address. */
  origin?: string | undefined
  /** Called when state changes that survives a restart: webhooks and Business connections. */
  onChange: () => void
}

/** Creates one bot of the stand-in, with its own threads, webhook and Business connections. */
export const createBot = ({ token, username, name = username }: BotOptions, around: Around) => {
  const user: BotUser = { id: Number(token.split(':')[0]), is_bot: true, first_name: name, username }
  const chats = createChats(around.now)
  const presses: Presses = new Map()
  const failures = new Map<string, (TelegramError | HangUp)[]>()
  const calls: { method: string; args: Args; at: number }[] = []
  const updates = createUpdates({ ...around, onReply: (method, args) => call(method, args) })
  const connections = createConnections({ user, updates, now: around.now, onChange: around.onChange })
  const methods = createMethods({ user, chats, updates, presses, connections, origin: around.origin })
  const signer = createSigner(token, around.now)
  const pressButton = createPress({ updates, presses, signer })
  let revoked = false

  const call = (method: string, args: Args): Result | undefined => {
    if (revoked) throw new TelegramError(401, 'Unauthorized')
    calls.push({ method: method.toLowerCase(), args, at: around.now() })
    const failure = failures.get(method.toLowerCase())?.shift()
    if (failure instanceof TelegramError) throw failure
    const result = methods.get(method.toLowerCase())?.(args)
    if (failure) throw failure
    if (/^(set|delete)webhook$/i.test(method)) around.onChange()
    return result
  }

  const say = (person: Person, text: string, more: object = {}, repliedTo?: Message): number => {
    const chat = chats.open(person)
    // Writing again unblocks the bot, like pressing "Restart bot".
    if (chat.blocked) chats.setBlocked(chat, false)
    return updates.push(person.id, { message: { ...chats.add(chat, person, text, undefined, repliedTo), ...more } })
  }
  const chatOf = (person: Person): Chat => chats.find(person.id) ?? { person, messages: [], blocked: false }

  return {
    token,
    user,
    username,
    chats,
    updates,
    connections,
    signer,
    /** All calls to the bot, oldest first, with their methods in lower case. */
    calls,
    call,
    chatOf,
    /**
     * Writes to the bot.
     * @param more fields that replace the message's own, such as a photo
     * @returns the update's id; 0 if the webhook does not accept messages
     */
    say,
    /** Replies to a message of the thread. @returns the update's id */
    reply: (person: Person, messageId: number, text: string): number => {
      const repliedTo = chatOf(person).messages.find((each) => each.message_id === messageId)
      if (!repliedTo) throw new Error(`Unknown message ${messageId}`)
      return say(person, text, {}, repliedTo)
    },
    /**
     * Presses a button of a message.
     * @param button counted over all rows, from 0
     */
    press: (person: Person, messageId: number, button: number) => pressButton(chatOf(person), messageId, button),
    /** Edits a message that the person wrote. */
    edit: (person: Person, messageId: number, text: string): number => {
      const chat = chatOf(person)
      const message = chat.messages.find((each) => each.message_id === messageId)
      if (!message) throw new Error(`Unknown message ${messageId}`)
      return updates.push(person.id, { edited_message: chats.edit(chat, message, text) })
    },
    /** Returns the messages of the thread, oldest first. */
    chat: (person: Person) => [...chatOf(person).messages],
    block: (person: Person, blocked = true) => chats.setBlocked(chats.open(person), blocked),
    /** Revokes the bot's token. */
    revoke: () => {
      revoked = true
    },
    fail: (method: string, failure: Failure, times = 1): void => {
      const error =
        'hang_up' in failure
          ? new HangUp()
          : 'retry_after' in failure
            ? tooManyRequests(failure.retry_after)
            : new TelegramError(failure.error_code, failure.description)
      failures.set(method.toLowerCase(), Array<TelegramError | HangUp>(times).fill(error))
    },
    redeliver: updates.redeliver,
    settled: updates.settled,
  }
}

export type StandInBot = ReturnType<typeof createBot>
