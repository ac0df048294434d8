import type { IncomingMessage, ServerResponse } from 'node:http'
import { isFromHere } from '../guard.ts'
import { readBody } from './bot-api.ts'
import type { BotUser, Chat, Chats } from './chats.ts'
import { messengerPage } from './page/page.ts'
import { type Person, personOf } from './person.ts'
import type { Pressed } from './press.ts'

/** What the page acts on. */
export interface MessengerOptions {
  bot: BotUser
  chats: Chats
  chatOf(person: Person): Chat
  say(person: Person, text: string): number
  press(person: Person, messageId: number, button: number): Pressed
}

const LONGEST_NAME = 64

const answerJson = (response: ServerResponse, body: unknown) =>
  response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-store' }).end(JSON.stringify(body))

const personNamed = (name: unknown): Person => {
  if (typeof name !== 'string' || name.trim() === '' || name.length > LONGEST_NAME) throw new RangeError('name')
  return personOf({ first_name: name.trim() })
}

/**
 * The messenger that people have instead of Telegram: a page, and what it calls.
 *
 * | address | what |
 * |---|---|
 * | `GET /<username>?start=…` | the page |
 * | `GET /messenger/chat?name=` | the person's chat as server-sent events, whole at each change |
 * | `POST /messenger/messages {name, text}` | writes to the bot |
 * | `POST /messenger/press {name, message_id, button}` | presses; answers what the bot says to it |
 * | `GET /messenger/open?name=&message_id=&button=` | to the button's address, a Mini App's with fresh init data |
 */
export const createMessenger = ({ bot, chats, chatOf, say, press }: MessengerOptions) => {
  const { html, securityPolicy } = messengerPage(bot)

  const page = (response: ServerResponse) =>
    response
      .writeHead(200, {
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-store',
        'content-security-policy': securityPolicy,
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
      })
      .end(html)

  const stream = (response: ServerResponse, person: Person) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
    const send = () => response.write(`data: ${JSON.stringify(chatOf(person).messages)}\n\n`)
    send()
    response.once('close', chats.watch(person.id, send))
  }

  const act = async (request: IncomingMessage, response: ServerResponse, action: string) => {
    const body = JSON.parse(await readBody(request)) as Record<string, unknown>
    const person = personNamed(body.name)
    if (action === 'messages') {
      say(person, String(body.text))
      return answerJson(response, {})
    }
    const pressed = press(person, Number(body.message_id), Number(body.button))
    return answerJson(response, pressed.kind === 'callback' ? ((await pressed.answer) ?? {}) : {})
  }

  const route = async (request: IncomingMessage, response: ServerResponse, url: URL) => {
    const query = url.searchParams
    const name = url.pathname.slice(1)
    const call = `${request.method} ${url.pathname}`
    if (call === 'GET /') return response.writeHead(302, { location: `/${bot.username}` }).end()
    if (request.method === 'GET' && name.toLowerCase() === bot.username.toLowerCase()) return page(response)
    if (!isFromHere(request)) return response.writeHead(403).end()
    switch (call) {
      case 'GET /messenger/chat':
        return stream(response, personNamed(query.get('name')))
      case 'GET /messenger/open': {
        const person = personNamed(query.get('name'))
        const pressed = press(person, Number(query.get('message_id')), Number(query.get('button')))
        if (pressed.kind === 'callback') return response.writeHead(404).end()
        return response.writeHead(302, { location: pressed.url, 'cache-control': 'no-store' }).end()
      }
      case 'POST /messenger/messages':
      case 'POST /messenger/press':
        return act(request, response, url.pathname.slice('/messenger/'.length))
      default:
        return response.writeHead(404, { 'content-type': 'text/plain' }).end('Not Found')
    }
  }

  return {
    answer: async (request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> => {
      try {
        await route(request, response, url)
      } catch {
        if (!response.headersSent) response.writeHead(400).end()
      }
    },
  }
}
