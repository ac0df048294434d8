import type { IncomingMessage, ServerResponse } from 'node:http'
import { isSameOrigin } from '../same-origin.ts'
import { readBody } from './bot-api.ts'
import { Declined } from './botfather.ts'
import type { StandInBot } from './bots.ts'
import { createBusiness } from './business.ts'
import { botFatherPage } from './page/botfather.ts'
import { businessPage } from './page/business.ts'
import { messengerPage } from './page/page.ts'
import type { Page } from './page/render.ts'
import { type Person, personOf } from './person.ts'

/** The parts of the stand-in that the pages act on. */
export interface MessengerOptions {
  /** The platform's bot. */
  main: StandInBot
  bots(): StandInBot[]
  /** Origin of the public address. */
  origin?: string | undefined
  /** @throws {Declined} */
  newBot(name: string, username: string): StandInBot
}

const LONGEST_NAME = 64

const answerJson = (response: ServerResponse, body: unknown, status = 200) =>
  response
    .writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' })
    .end(JSON.stringify(body))

/**
 * Streams the whole state at each change.
 * @param watch starts listening and returns a function that stops it
 */
const stream = (response: ServerResponse, state: () => unknown, watch: (listener: () => void) => () => void) => {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
  const send = () => response.write(`data: ${JSON.stringify(state())}\n\n`)
  send()
  response.once('close', watch(send))
}

const answerPage = (response: ServerResponse, { html, securityPolicy }: Page) =>
  response
    .writeHead(200, {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': securityPolicy,
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    })
    .end(html)

const personNamed = (name: unknown): Person => {
  if (typeof name !== 'string' || name.trim() === '' || name.length > LONGEST_NAME) throw new RangeError('name')
  return personOf({ first_name: name.trim() })
}

/**
 * Creates the messenger that people use instead of Telegram: its pages and their endpoints. `bot` is a username, by default the
 * platform's bot. Pages name their endpoints relative to themselves, because they may be below any path.
 *
 * | address | purpose |
 * |---|---|
 * | `GET /<username>?start=…` | page of a bot |
 * | `GET /botfather` | page for creating bots |
 * | `GET /business` | page for connecting the platform's bot to an account, and for writing to that account |
 * | `GET /messenger/chat?bot=&name=` | the person's thread as server-sent events, whole at each change |
 * | `POST /messenger/messages {bot, name, text, reply_to}` | writes to the bot, as a reply if `reply_to` is a message |
 * | `POST /messenger/press {bot, name, message_id, button}` | presses a button; returns the bot's answer |
 * | `GET /messenger/open?bot=&name=&message_id=&button=` | redirects to the button's address, for a Mini App with fresh init data |
 * | `GET /messenger/bots` | all bots except the platform's, with their tokens |
 * | `POST /messenger/bots {name, username}` | creates a bot; 409 with @BotFather's `error` if it is rejected |
 * | `GET /messenger/business?name=` | the person's connection and threads as server-sent events |
 * | `POST /messenger/connection {name, enabled, can_reply}` | connects the platform's bot, changes its permissions, disconnects it |
 * | `POST /messenger/contact {name, contact, text, own}` | writes from the contact to the person; `own`: from the person to the contact |
 */
export const createMessenger = ({ main, bots, newBot, origin }: MessengerOptions) => {
  const business = createBusiness(main.connections)
  const named = (username: unknown): StandInBot => {
    const given = String(username ?? '') || main.username
    const bot = bots().find((each) => each.username.toLowerCase() === given.toLowerCase())
    if (!bot) throw new RangeError('bot')
    return bot
  }

  const act = async (response: ServerResponse, action: string, body: Record<string, unknown>) => {
    switch (action) {
      case 'messages': {
        const [bot, person, text] = [named(body.bot), personNamed(body.name), String(body.text)]
        if (body.reply_to === undefined) bot.say(person, text)
        else bot.reply(person, Number(body.reply_to), text)
        return answerJson(response, {})
      }
      case 'press': {
        const at = [Number(body.message_id), Number(body.button)] as const
        const pressed = named(body.bot).press(personNamed(body.name), ...at)
        return answerJson(response, pressed.kind === 'callback' ? ((await pressed.answer) ?? {}) : {})
      }
      case 'bots': {
        const { token, username } = newBot(String(body.name), String(body.username))
        return answerJson(response, { token, username }, 201)
      }
      case 'connection':
        business.set(personNamed(body.name), { enabled: body.enabled === true, canReply: body.can_reply === true })
        return answerJson(response, {})
      case 'contact':
        business.write(personNamed(body.name), personNamed(body.contact), String(body.text), body.own === true)
        return answerJson(response, {})
      default:
        return response.writeHead(404, { 'content-type': 'text/plain' }).end('Not Found')
    }
  }

  const show = (response: ServerResponse, call: string, query: URLSearchParams) => {
    switch (call) {
      case '/messenger/bots': {
        const others = bots().filter((bot) => bot !== main)
        return answerJson(response, { items: others.map(({ token, username }) => ({ token, username })) })
      }
      case '/messenger/chat': {
        const person = personNamed(query.get('name'))
        const bot = named(query.get('bot'))
        return stream(
          response,
          () => bot.chat(person),
          (listener) => bot.chats.watch(person.id, listener),
        )
      }
      case '/messenger/business': {
        const person = personNamed(query.get('name'))
        return stream(response, () => business.stateOf(person), main.connections.watch)
      }
      case '/messenger/open': {
        const at = [Number(query.get('message_id')), Number(query.get('button'))] as const
        const pressed = named(query.get('bot')).press(personNamed(query.get('name')), ...at)
        if (pressed.kind === 'callback') return response.writeHead(404).end()
        return response.writeHead(302, { location: pressed.url, 'cache-control': 'no-store' }).end()
      }
      default:
        return response.writeHead(404, { 'content-type': 'text/plain' }).end('Not Found')
    }
  }

  const pageAt = (path: string): Page | undefined => {
    if (path === '/botfather') return botFatherPage()
    if (path === '/business') return businessPage(main.user)
    const bot = bots().find(({ username }) => `/${username}`.toLowerCase() === path.toLowerCase())
    return bot && messengerPage(bot.user)
  }

  const route = async (request: IncomingMessage, response: ServerResponse, url: URL) => {
    const { pathname, searchParams } = url
    const page = request.method === 'GET' ? pageAt(pathname) : undefined
    if (page) return answerPage(response, page)
    if (request.method === 'GET' && pathname === '/') {
      return response.writeHead(302, { location: main.username }).end()
    }
    if (!isSameOrigin(request, origin)) return response.writeHead(403).end()
    if (request.method === 'GET') return show(response, pathname, searchParams)
    if (request.method !== 'POST' || !pathname.startsWith('/messenger/')) {
      return response.writeHead(404, { 'content-type': 'text/plain' }).end('Not Found')
    }
    const body = JSON.parse(await readBody(request)) as Record<string, unknown>
    return act(response, pathname.slice('/messenger/'.length), body)
  }

  return {
    answer: async (request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> => {
      try {
        await route(request, response, url)
      } catch (error) {
        if (response.headersSent) return
        if (error instanceof Declined) answerJson(response, { error: error.message }, 409)
        else response.writeHead(400).end()
      }
    },
  }
}
