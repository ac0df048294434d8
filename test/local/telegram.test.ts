import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { parse, validate } from '@tma.js/init-data-node'
import { Api, GrammyError } from 'grammy'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createTelegram, type Person, type Telegram } from '#local/telegram.ts'
import { until } from './support.ts'

const TOKEN = '110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw'

interface Received {
  // biome-ignore lint/suspicious/noExplicitAny: updates of every kind
  update: any
  secret: string | undefined
  at: number
}

/** A bot's webhook whose answers the test sets: a status, `hang up`, or a body. */
const startWebhook = async () => {
  const received: Received[] = []
  const answers: (number | 'hang up' | { status: number; headers?: Record<string, string>; body?: unknown })[] = []
  const read = async (request: IncomingMessage) => {
    let text = ''
    for await (const piece of request) text += piece
    return JSON.parse(text)
  }
  const server = createServer(async (request, response) => {
    const secret = request.headers['x-telegram-bot-api-secret-token'] as string | undefined
    received.push({ update: await read(request), secret, at: performance.now() })
    const answer = answers.shift() ?? 200
    if (answer === 'hang up') return response.destroy()
    const { status, headers = {}, body } = typeof answer === 'number' ? { status: answer } : answer
    return response
      .writeHead(status, { 'content-type': 'application/json', ...headers })
      .end(body === undefined ? '' : JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    answers,
    texts: () => received.map(({ update }) => update.message?.text),
    stop: () => server.close(),
  }
}

let telegram: Telegram
let webhook: Awaited<ReturnType<typeof startWebhook>>
let api: Api
let ada: Person
beforeEach(async () => {
  telegram = await createTelegram({ token: TOKEN, username: 'test_bot', retryDelaysMs: [20, 40] })
  webhook = await startWebhook()
  api = new Api(TOKEN, { apiRoot: telegram.url })
  ada = telegram.person({ first_name: 'Ada', last_name: 'Lovelace', username: 'ada' })
})
afterEach(async () => {
  await telegram.stop()
  webhook.stop()
})

/** Returns the Bot API's error for a call. */
const refusal = async (call: Promise<unknown>) => {
  const error = await call.catch((thrown: unknown) => thrown)
  if (!(error instanceof GrammyError)) throw new Error(`It was not refused: ${error}`)
  return `${error.error_code} ${error.description}`
}
const chatted = () => {
  telegram.say(ada, '/start')
  return ada.id
}

describe('the Bot API, called by grammY', () => {
  test('knows its bot', async () => {
    expect(await api.getMe()).toMatchObject({ id: 110201543, is_bot: true, username: 'test_bot' })
  })

  test('refuses another token, and a malformed one', async () => {
    const other = new Api('110201543:other', { apiRoot: telegram.url })
    expect(await refusal(other.getMe())).toBe('401 Unauthorized')
    expect(await (await fetch(`${telegram.url}/botnone/getMe`)).json()).toEqual({
      ok: false,
      error_code: 401,
      description: 'Unauthorized: invalid token specified',
    })
  })

  test('accepts methods in any case, by GET and POST, with arguments in query, form and JSON', async () => {
    const id = String(chatted())
    const base = `${telegram.url}/bot${TOKEN}`
    const markup = JSON.stringify({ inline_keyboard: [[{ text: 'Go', callback_data: 'go' }]] })
    const fields = new URLSearchParams({ chat_id: id, text: 'Hello', reply_markup: markup })
    const json = JSON.stringify({ chat_id: Number(id), text: 'Hello', reply_markup: JSON.parse(markup) })
    const calls = [
      fetch(`${base}/SENDMESSAGE?${fields}`),
      fetch(`${base}/sendMessage`, { method: 'POST', body: fields }),
      fetch(`${base}/sendmessage`, { method: 'POST', body: json, headers: { 'content-type': 'application/json' } }),
    ]
    for (const answer of await Promise.all(calls)) {
      expect(await answer.json()).toMatchObject({
        ok: true,
        result: { text: 'Hello', reply_markup: JSON.parse(markup) },
      })
    }
    const broken = await fetch(`${base}/sendMessage`, {
      method: 'POST',
      body: '{',
      headers: { 'content-type': 'application/json' },
    })
    expect(broken.status).toBe(400)
  })

  test('refuses unknown methods', async () => {
    const answer = await fetch(`${telegram.url}/bot${TOKEN}/sendPhoto`)
    expect(answer.status).toBe(404)
    expect(await answer.json()).toEqual({ ok: false, error_code: 404, description: 'Not Found: method not found' })
    expect((await fetch(`${telegram.url}/file/bot${TOKEN}/x`)).status).toBe(404)
  })

  test('sends messages to people who have written, and edits its own', async () => {
    expect(await refusal(api.sendMessage(ada.id, 'Hello'))).toBe('400 Bad Request: chat not found')
    const chat = chatted()
    const sent = await api.sendMessage(chat, 'Hello', {
      reply_markup: {
        inline_keyboard: [
          [{ text: 'Site', url: 'https://example.com/' }],
          [
            { text: 'App', web_app: { url: 'https://example.com/app' } },
            { text: 'Press', callback_data: 'x'.repeat(64) },
          ],
        ],
      },
    })
    expect(sent).toMatchObject({ from: { id: 110201543 }, chat: { id: chat, type: 'private', username: 'ada' } })
    const edited = await api.editMessageText(chat, sent.message_id, 'Bye')
    expect(edited).toMatchObject({ message_id: sent.message_id, text: 'Bye', edit_date: expect.any(Number) })
    expect(telegram.chat(ada).map(({ text, reply_markup }) => [text, reply_markup])).toEqual([
      ['/start', undefined],
      ['Bye', undefined],
    ])
    const refused = [
      [api.editMessageText(chat, sent.message_id, 'Bye'), /^400 Bad Request: message is not modified: specified new/],
      [api.editMessageText(chat, 1, 'Bye'), /^400 Bad Request: message to edit not found$/],
      [api.editMessageText(chat, sent.message_id - 1, 'Bye'), /^400 Bad Request: message can't be edited$/],
    ] as const
    for (const [call, expected] of refused) expect(await refusal(call)).toMatch(expected)
  })

  test.each<[string, string, string, unknown?]>([
    ['an empty text', '', 'message text is empty'],
    ['a text that is too long', 'x'.repeat(4097), 'message is too long'],
    [
      'callback data that is too long',
      'x',
      'BUTTON_DATA_INVALID',
      { inline_keyboard: [[{ text: 'Go', callback_data: 'ü'.repeat(33) }]] },
    ],
    [
      'a Mini App without https',
      'x',
      "inline keyboard button Web App URL 'http://example.com/' is invalid: Only HTTPS links are allowed",
      { inline_keyboard: [[{ text: 'Go', web_app: { url: 'http://example.com/' } }]] },
    ],
    [
      'an invalid link',
      'x',
      "inline keyboard button URL 'example' is invalid: Wrong HTTP URL",
      { inline_keyboard: [[{ text: 'Go', url: 'example' }]] },
    ],
    [
      'a button that does nothing',
      'x',
      "can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard",
      { inline_keyboard: [[{ text: 'Go' }]] },
    ],
    [
      'a keyboard without rows',
      'x',
      'field "inline_keyboard" of the InlineKeyboardMarkup must be an Array of Arrays',
      { inline_keyboard: [{ text: 'Go', url: 'https://example.com/' }] },
    ],
  ])('refuses %s in Telegram’s words', async (_, text, words, markup) => {
    const send = api.sendMessage(chatted(), text, { reply_markup: markup as never })
    expect(await refusal(send)).toBe(`400 Bad Request: ${words}`)
  })

  test('refuses to write to a person who blocked the bot, until they write again', async () => {
    const chat = chatted()
    telegram.block(ada)
    expect(await refusal(api.sendMessage(chat, 'Hello'))).toBe('403 Forbidden: bot was blocked by the user')
    chatted()
    await api.sendMessage(chat, 'Hello')
  })

  test('keeps commands by language, and the menu button by chat', async () => {
    const commands = [{ command: 'start', description: 'Begin' }]
    await api.setMyCommands(commands)
    expect(await api.getMyCommands()).toEqual(commands)
    expect(await api.getMyCommands({ language_code: 'de' })).toEqual([])
    const wrong = api.setMyCommands([{ command: 'Not A Command', description: 'x' }])
    expect(await refusal(wrong)).toBe('400 Bad Request: BOT_COMMAND_INVALID')
    const button = { type: 'web_app' as const, text: 'Open', web_app: { url: 'https://example.com/' } }
    await api.setChatMenuButton({ chat_id: chatted(), menu_button: button })
    expect(await api.getChatMenuButton({ chat_id: ada.id })).toEqual(button)
    expect(await api.getChatMenuButton()).toEqual({ type: 'commands' })
  })

  test('fails on demand without side effects, and then continues', async () => {
    const chat = chatted()
    telegram.fail('sendMessage', { retry_after: 7 })
    const error = await api.sendMessage(chat, 'Hello').catch((thrown) => thrown)
    expect(error).toMatchObject({
      error_code: 429,
      description: 'Too Many Requests: retry after 7',
      parameters: { retry_after: 7 },
    })
    expect(telegram.chat(ada)).toHaveLength(1)
    telegram.fail('sendMessage', { error_code: 500, description: 'Internal Server Error' }, 2)
    for (let i = 0; i < 2; i++) expect(await refusal(api.sendMessage(chat, 'x'))).toBe('500 Internal Server Error')
    await api.sendMessage(chat, 'Hello')
  })
})

describe('updates', () => {
  const connect = (options = {}) =>
    api.setWebhook(webhook.url, {
      secret_token: 'Secret_1',
      allowed_updates: ['message', 'callback_query'],
      ...options,
    })

  test('carry the secret, the person and their command', async () => {
    await connect()
    const id = telegram.say(ada, '/start oauth_abc-1')
    await telegram.settled()
    const [{ update, secret }] = webhook.received as [Received]
    expect(secret).toBe('Secret_1')
    expect(update).toMatchObject({
      update_id: id,
      message: {
        text: '/start oauth_abc-1',
        from: { id: ada.id, is_bot: false, first_name: 'Ada', language_code: 'en' },
        chat: { id: ada.id, type: 'private', last_name: 'Lovelace' },
        entities: [{ type: 'bot_command', offset: 0, length: 6 }],
      },
    })
  })

  test('are repeated until a 2xx, and keep their order within a chat', async () => {
    await connect()
    webhook.answers.push(500, 'hang up', 401, 204)
    const first = telegram.say(ada, 'one')
    const second = telegram.say(ada, 'two')
    await telegram.settled()
    await sleep(100)
    expect(webhook.received.map(({ update }) => update.update_id)).toEqual([first, first, first, first, second])
    expect(second).toBe(first + 1)
    const { last_error_message } = await api.getWebhookInfo()
    expect(last_error_message).toBe('Wrong response from the webhook: 401 Unauthorized')
  })

  test('wait as long as the webhook asks', async () => {
    await connect()
    webhook.answers.push({ status: 503, headers: { 'retry-after': '1' } })
    telegram.say(ada, 'one')
    await telegram.settled()
    const [first, second] = webhook.received as [Received, Received]
    expect(second.at - first.at).toBeGreaterThan(900)
  })

  test('of one chat don’t wait for another’s', async () => {
    await connect()
    webhook.answers.push({ status: 503, headers: { 'retry-after': '1' } })
    telegram.say(ada, 'slow')
    await until(() => webhook.received[0])
    telegram.say(telegram.person({ first_name: 'Bob' }), 'quick')
    await until(() => (webhook.texts().includes('quick') ? true : undefined), 800)
    expect(webhook.texts()).toEqual(['slow', 'quick'])
  })

  test('wait for a webhook, and are dropped if it says so', async () => {
    telegram.say(ada, 'before')
    expect((await api.getWebhookInfo()).pending_update_count).toBe(1)
    await connect({ drop_pending_updates: true })
    telegram.say(ada, 'after')
    await telegram.settled()
    expect(webhook.texts()).toEqual(['after'])
    await api.deleteWebhook()
    expect(await api.getWebhookInfo()).toMatchObject({ url: '', pending_update_count: 0 })
    telegram.say(ada, 'later')
    await connect()
    await telegram.settled()
    expect(webhook.texts()).toEqual(['after', 'later'])
  })

  test('are redelivered when a test asks for it', async () => {
    await connect()
    const id = telegram.say(ada, 'one')
    await telegram.settled()
    expect(await telegram.redeliver(id)).toBe(200)
    expect(webhook.received.map(({ update }) => update.update_id)).toEqual([id, id])
    await expect(telegram.redeliver(1)).rejects.toThrow('Unknown update 1')
  })

  test('of a kind that isn’t allowed are not sent', async () => {
    await connect({ allowed_updates: ['callback_query'] })
    expect(telegram.say(ada, 'one')).toBe(0)
    expect((await api.getWebhookInfo()).allowed_updates).toEqual(['callback_query'])
  })

  test('may be answered with a call', async () => {
    await connect()
    webhook.answers.push({ status: 200, body: { method: 'sendMessage', chat_id: ada.id, text: 'At once' } })
    telegram.say(ada, 'one')
    await telegram.settled()
    expect(telegram.chat(ada).map(({ text }) => text)).toEqual(['one', 'At once'])
  })

  test('report a pressed button, and the answer reaches the person', async () => {
    await connect()
    const keyboard = { inline_keyboard: [[{ text: 'Yes', callback_data: 'yes' }]] }
    const { message_id } = await api.sendMessage(chatted(), 'Sure?', { reply_markup: keyboard })
    const pressed = telegram.press(ada, message_id, 0)
    if (pressed.kind !== 'callback') throw new Error(pressed.kind)
    await telegram.settled()
    const { callback_query: query } = webhook.received.at(-1)?.update ?? {}
    expect(query).toMatchObject({ data: 'yes', from: { id: ada.id }, message: { message_id, text: 'Sure?' } })
    await api.answerCallbackQuery(query.id, { text: 'Done', show_alert: true })
    expect(await pressed.answer).toEqual({ text: 'Done', show_alert: true })
    expect(await refusal(api.answerCallbackQuery('1'))).toMatch(/^400 Bad Request: query is too old/)
    expect(() => telegram.press(ada, message_id, 1)).toThrow('has no button 1')
  })

  test.each([
    ['http://example.com/', {}, 'bad webhook: An HTTPS URL must be provided for webhook'],
    ['https://example.com/', { secret_token: 'a b' }, 'secret token contains unallowed characters'],
    ['https://example.com/', { secret_token: 'x'.repeat(257) }, 'secret token is too long'],
  ])('go to no webhook such as %s %j', async (url, options, words) => {
    expect(await refusal(api.setWebhook(url, options))).toBe(`400 Bad Request: ${words}`)
  })
})

describe('signatures', () => {
  test('of init data verify with another library', () => {
    const text = telegram.initData(telegram.person({ first_name: 'Zoë & Co', username: 'z' }), { start_param: 'a_1' })
    validate(text, TOKEN)
    expect(parse(text)).toMatchObject({ user: { first_name: 'Zoë & Co' }, start_param: 'a_1' })
    expect(new URLSearchParams(text).get('signature')).toMatch(/^[\w-]{86}$/)
    expect(() => validate(text, TOKEN.replace('AAH', 'BBH'))).toThrow()
    expect(() => validate(text.replace('a_1', 'a_2'), TOKEN)).toThrow()
  })

  test('of a Mini App’s button are in the fragment, after its own address', async () => {
    const url = 'https://example.com/app?tg=1'
    const keyboard = { inline_keyboard: [[{ text: 'Open', web_app: { url } }]] }
    const { message_id } = await api.sendMessage(chatted(), 'Hello', { reply_markup: keyboard })
    const pressed = telegram.press(ada, message_id, 0)
    if (pressed.kind !== 'web_app') throw new Error(pressed.kind)
    const [address, fragment = ''] = pressed.url.split('#')
    const fields = new URLSearchParams(fragment)
    expect(address).toBe(url)
    expect([fields.get('tgWebAppVersion'), fields.get('tgWebAppPlatform')]).toEqual(['9.1', 'web'])
    validate(fields.get('tgWebAppData') ?? '', TOKEN)
  })

  test('of the login widget hash the sorted fields with the token’s SHA-256', async () => {
    const { hash, ...fields } = telegram.widget(ada)
    const encode = (text: string) => new TextEncoder().encode(text)
    const secret = await crypto.subtle.digest('SHA-256', encode(TOKEN))
    const key = await crypto.subtle.importKey('raw', secret, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
    const { auth_date, first_name, id, last_name, username } = fields
    const lines = `auth_date=${auth_date}\nfirst_name=${first_name}\nid=${id}\nlast_name=${last_name}\nusername=${username}`
    const expected = Buffer.from(await crypto.subtle.sign('HMAC', key, encode(lines))).toString('hex')
    expect(hash).toBe(expected)
  })

  test('the same name is always the same person', () => {
    expect(telegram.person({ first_name: 'Ada' }).id).toBe(telegram.person({ first_name: ' ada ' }).id)
    expect(telegram.person({ first_name: 'Ada' }).id).toBe(8_768_985_789)
    expect(telegram.person({ first_name: 'Bob' }).id).not.toBe(ada.id)
  })
})
