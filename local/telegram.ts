import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { hasLocalHost, isSameOrigin, refuseHost } from './same-origin.ts'
import { answerApi } from './telegram/bot-api.ts'
import { newBot } from './telegram/botfather.ts'
import { type BotOptions, createBot, type Failure, type StandInBot } from './telegram/bots.ts'
import type { Message } from './telegram/chats.ts'
import type { Connections } from './telegram/connections.ts'
import { HangUp } from './telegram/error.ts'
import { loadState, type Memory, saveState } from './telegram/memory.ts'
import { createMessenger } from './telegram/messenger.ts'
import { type GivenPerson, type Person, personOf } from './telegram/person.ts'
import type { Pressed } from './telegram/press.ts'
import type { Signer } from './telegram/signing.ts'

export type { Failure, Message, Person, StandInBot }

/** The platform's bot, and the address of the stand-in. */
export interface TelegramOptions extends BotOptions {
  /** Port; 0 (the default) for any free one. */
  port?: number
  /** Epoch milliseconds, for `date` and `auth_date`. */
  now?: () => number
  /** Delays after each failed delivery of an update; the last one repeats. */
  retryDelaysMs?: number[]
  /** Maps a webhook's address to its real address; the same address by default. */
  reach?: (url: string) => string
  /** Origin of the public address, whose pages people use besides the stand-in's own. */
  origin?: string | undefined
  /** Stores further bots with their webhooks, and Business connections, across restarts. */
  memory?: Memory
}

/** A running stand-in for Telegram. Its methods do what people do in Telegram. */
export interface Telegram extends Signer {
  /** Address of the Bot API and of the messenger's pages, without a trailing slash. */
  url: string
  /** Answers a request for one of the messenger's pages, which may be below any path. */
  answerPage(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void>
  port: number
  token: string
  username: string
  person(given: GivenPerson): Person
  /**
   * Writes to the bot.
   * @returns the update's id; 0 if the webhook does not accept messages
   */
  say(person: Person, text: string): number
  /** Replies to a message of the thread. @returns the update's id; 0 if the webhook does not accept messages */
  reply(person: Person, messageId: number, text: string): number
  /**
   * Presses a button of a message.
   * @param button counted over all rows, from 0
   */
  press(person: Person, messageId: number, button: number): Pressed
  /** Returns the messages of the thread, oldest first. */
  chat(person: Person): Message[]
  /** Blocks or unblocks the bot for the person. */
  block(person: Person, blocked?: boolean): void
  /** Makes the next calls of a method fail without any effect. */
  fail(method: string, failure: Failure, times?: number): void
  /** Actions of people who connected the bot to their own account (Telegram Business). */
  business: Connections
  /** Creates a further bot, such as a customer's. */
  bot(options: BotOptions): StandInBot
  /**
   * Sends an earlier update again.
   * @returns the status of the webhook's response
   */
  redeliver(updateId: number): Promise<number>
  /** Resolves when the webhook has accepted every update. */
  settled(): Promise<void>
  stop(): Promise<void>
}

const RETRY_DELAYS_MS = [100, 200, 500, 1_000, 2_000]

/**
 * Starts a stand-in for Telegram on the loopback interface. It serves the Bot API at `/bot<token>/<method>` and a small
 * messenger for people at `/<username>?start=…`, like `https://t.me`. At `/botfather`, people create their own bots. At
 * `/business`, they connect the platform's bot to their account. Messages are kept only in memory, and people's ids
 * derive from their names.
 *
 * It accepts http addresses of this machine where Telegram requires https, and shows texts without markup. It rejects
 * everything else that it does not support.
 *
 * @throws the listen error, such as `EADDRINUSE`
 */
export const createTelegram = async (options: TelegramOptions): Promise<Telegram> => {
  const {
    token,
    username,
    name = username,
    now = Date.now,
    retryDelaysMs = RETRY_DELAYS_MS,
    reach = (url: string) => url,
    memory,
  } = options
  const bots = new Map<string, StandInBot>()
  const others = () => [...bots.values()].filter((bot) => bot !== main)
  const { origin } = options
  const around = { now, retryDelaysMs, reach, origin, onChange: () => saveState(memory, main, others()) }
  const main = createBot({ token, username, name }, around)
  const add = (given: BotOptions): StandInBot => {
    const bot = createBot(given, around)
    bots.set(given.token, bot)
    return bot
  }
  const kept = loadState(memory)
  bots.set(token, main)
  for (const { webhook, ...given } of kept.bots) add(given).updates.connect(webhook)
  for (const connection of kept.connections) main.connections.restore(connection)

  const messenger = createMessenger({
    main,
    origin,
    bots: () => [...bots.values()],
    newBot: (shown, handle) => {
      const made = add(
        newBot(
          [...bots.values()].map((bot) => bot.username),
          shown,
          handle,
        ),
      )
      around.onChange()
      return made
    },
  })
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (!hasLocalHost(request)) return refuseHost(request, response)
    const url = new URL(request.url ?? '/', 'http://localhost')
    const answered = isSameOrigin(request) ? await answerApi(request, url, (given) => bots.get(given)) : undefined
    if (!answered) return messenger.answer(request, response, url)
    response.writeHead(answered.status, { 'content-type': 'application/json' }).end(JSON.stringify(answered.body))
  }
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      if (error instanceof HangUp) return request.socket.destroy()
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
    answerPage: messenger.answer,
    port,
    token,
    username,
    ...main.signer,
    person: personOf,
    say: main.say,
    reply: main.reply,
    press: main.press,
    chat: main.chat,
    block: main.block,
    fail: main.fail,
    redeliver: main.redeliver,
    business: main.connections,
    bot: add,
    settled: async () => void (await Promise.all([...bots.values()].map((bot) => bot.settled()))),
    stop: () => {
      for (const bot of bots.values()) bot.updates.stop()
      return new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
    },
  }
}
