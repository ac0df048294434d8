import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { isFromHere, isNamedHere } from './guard.ts'
import { answerApi } from './telegram/bot-api.ts'
import { type BotUser, type Chat, createChats, type Message } from './telegram/chats.ts'
import { TelegramError, tooManyRequests } from './telegram/error.ts'
import { createMessenger } from './telegram/messenger.ts'
import { type Args, createMethods, type Presses } from './telegram/methods.ts'
import { type GivenPerson, type Person, personOf } from './telegram/person.ts'
import { createPress, type Pressed } from './telegram/press.ts'
import { createSigner, type Signer } from './telegram/signing.ts'
import { createUpdates } from './telegram/updates.ts'

export type { Message, Person }

/** The one bot of the stand-in, and where it listens. */
export interface TelegramOptions {
  /** `<id>:<text>`, as BotFather gives them. */
  token: string
  /** Without the `@`; 5–32 letters, digits and underscores. */
  username: string
  /** What people see. */
  name?: string
  /** 0 (the default) is any free one. */
  port?: number
  /** Epoch milliseconds, for `date` and `auth_date`. */
  now?: () => number
  /** After each failed delivery of an update; the last one repeats. */
  retryDelaysMs?: number[]
}

/** How a call is to fail: a 429 says after how many seconds to come again. */
export type Failure = { retry_after: number } | { error_code: number; description: string }

/** A running stand-in for Telegram: what is done here, a person does there. */
export interface Telegram extends Signer {
  /** Of the Bot API and of the messenger's page, without a trailing slash. */
  url: string
  port: number
  token: string
  username: string
  person(given: GivenPerson): Person
  /** Writes to the bot. @returns the update's id; 0 if the webhook does not take messages */
  say(person: Person, text: string): number
  /** @param button counted over all rows, from 0 */
  press(person: Person, messageId: number, button: number): Pressed
  /** Oldest first. */
  chat(person: Person): Message[]
  /** The person blocks the bot, or takes it back. */
  block(person: Person, blocked?: boolean): void
  /** Lets the next calls of a method fail, without doing anything. */
  fail(method: string, failure: Failure, times?: number): void
  /** Sends an update again that was sent before. @returns the status of the webhook's answer */
  redeliver(updateId: number): Promise<number>
  /** Resolves when the webhook has taken every update. */
  settled(): Promise<void>
  stop(): Promise<void>
}

const RETRY_DELAYS_MS = [100, 200, 500, 1_000, 2_000]

/**
 * Starts a stand-in for Telegram on the loopback interface: the Bot API at `/bot<token>/<method>`, and for people a small
 * messenger at `/<username>?start=…`, as `https://t.me` is. Everything is in memory; people's ids follow from their names.
 *
 * It takes http addresses of this machine where Telegram wants https, and shows texts without markup. All else that it does
 * not know it refuses.
 *
 * @throws the listen error, such as `EADDRINUSE`
 */
export const createTelegram = async (options: TelegramOptions): Promise<Telegram> => {
  const { token, username, name = username, now = Date.now, retryDelaysMs = RETRY_DELAYS_MS } = options
  const user: BotUser = { id: Number(token.split(':')[0]), is_bot: true, first_name: name, username }
  const chats = createChats(now)
  const presses: Presses = new Map()
  const failures = new Map<string, TelegramError[]>()
  const updates = createUpdates({ retryDelaysMs, onReply: (method, args) => call(method, args) })
  const methods = createMethods({ user, chats, updates, presses })
  const signer = createSigner(token, now)

  const call = (method: string, args: Args) => {
    const failure = failures.get(method.toLowerCase())?.shift()
    if (failure) throw failure
    return methods.get(method.toLowerCase())?.(args)
  }

  const say = (person: Person, text: string): number => {
    const chat = chats.open(person)
    // Writing again takes the block off, as pressing "Restart bot" does.
    if (chat.blocked) chats.setBlocked(chat, false)
    return updates.push(person.id, { message: chats.add(chat, person, text) })
  }
  const pressButton = createPress({ updates, presses, signer })
  const chatOf = (person: Person): Chat => chats.find(person.id) ?? { person, messages: [], blocked: false }
  const press = (person: Person, messageId: number, button: number) => pressButton(chatOf(person), messageId, button)

  const messenger = createMessenger({ bot: user, chats, chatOf, say, press })
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (!isNamedHere(request)) return void response.writeHead(403).end()
    const url = new URL(request.url ?? '/', 'http://localhost')
    const answered = isFromHere(request) ? await answerApi(request, url, { token, call }) : undefined
    if (!answered) return messenger.answer(request, response, url)
    response.writeHead(answered.status, { 'content-type': 'application/json' }).end(JSON.stringify(answered.body))
  }
  const server = createServer((request, response) => {
    answer(request, response).catch(() => {
      if (!response.headersSent) response.writeHead(500)
      response.end()
    })
  })
  server.keepAliveTimeout = 0
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port ?? 0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo

  return {
    url: `http://127.0.0.1:${port}`,
    port,
    token,
    username,
    ...signer,
    person: personOf,
    say,
    press,
    chat: (person) => [...chatOf(person).messages],
    block: (person, blocked = true) => chats.setBlocked(chats.open(person), blocked),
    fail: (method, failure, times = 1) => {
      const error =
        'retry_after' in failure
          ? tooManyRequests(failure.retry_after)
          : new TelegramError(failure.error_code, failure.description)
      failures.set(method.toLowerCase(), Array<TelegramError>(times).fill(error))
    },
    redeliver: updates.redeliver,
    settled: updates.settled,
    stop: () => {
      updates.stop()
      return new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
    },
  }
}
