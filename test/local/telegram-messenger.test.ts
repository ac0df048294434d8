import { Api, GrammyError } from 'grammy'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createTelegram, type Person, type Telegram } from '#local/telegram.ts'
import { type Receiver, startReceiver } from '#testkit/receiver.ts'

const PLATFORM = { token: '110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw', username: 'test_bot' }
const CUSTOMER = { token: '220201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw', username: 'shop_bot', name: 'Shop' }

let telegram: Telegram
let platformHook: Receiver
let customerHook: Receiver
let api: Api
let ada: Person
let cleo: Person
let kept: string | undefined
const memory = {
  read: () => kept,
  write: (text: string) => {
    kept = text
  },
}
const start = () => createTelegram({ ...PLATFORM, retryDelaysMs: [20], memory })

beforeEach(async () => {
  kept = undefined
  telegram = await start()
  platformHook = await startReceiver()
  customerHook = await startReceiver()
  api = new Api(PLATFORM.token, { apiRoot: telegram.url })
  await api.setWebhook(platformHook.url, { secret_token: 'Platform_1' })
  ada = telegram.person({ first_name: 'Ada' })
  cleo = telegram.person({ first_name: 'Cleo' })
})
afterEach(async () => {
  await telegram.stop()
  await Promise.all([platformHook.close(), customerHook.close()])
})

const refusal = async (call: Promise<unknown>) => {
  const error = await call.catch((thrown: unknown) => thrown)
  if (!(error instanceof GrammyError)) throw new Error(`It was not refused: ${error}`)
  return `${error.error_code} ${error.description}`
}
/** Reads the updates that a webhook received. */
const updatesAt = async (hook: Receiver) => {
  await telegram.settled()
  return hook.requests.map(({ body }) => JSON.parse(String(body)))
}
const post = async (path: string, body: object, headers: Record<string, string> = {}) => {
  const answer = await fetch(`${telegram.url}/messenger/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  // biome-ignore lint/suspicious/noExplicitAny: any answer of the stand-in
  const json = (await answer.json().catch(() => undefined)) as any
  return { status: answer.status, body: json }
}
/** Reads the first state that a stream sends. */
const stateOf = async (path: string) => {
  const answer = await fetch(`${telegram.url}/messenger/${path}`)
  const { value } = (await answer.body?.getReader().read()) ?? {}
  return JSON.parse(new TextDecoder().decode(value).replace(/^data: /, ''))
}

describe('another bot', () => {
  const customer = async () => {
    const bot = telegram.bot(CUSTOMER)
    const shopApi = new Api(CUSTOMER.token, { apiRoot: telegram.url })
    await shopApi.setWebhook(customerHook.url, {
      secret_token: 'Shop_1',
      allowed_updates: ['message', 'edited_message'],
    })
    return { bot, shopApi }
  }

  test('has its own webhook, secret and chats', async () => {
    const { bot, shopApi } = await customer()
    bot.say(cleo, 'To the shop')
    telegram.say(ada, 'To the platform')
    expect((await updatesAt(customerHook)).map(({ message }) => message.text)).toEqual(['To the shop'])
    expect((await updatesAt(platformHook)).map(({ message }) => message.text)).toEqual(['To the platform'])
    expect(customerHook.requests[0]?.headers['x-telegram-bot-api-secret-token']).toBe('Shop_1')
    expect(platformHook.requests[0]?.headers['x-telegram-bot-api-secret-token']).toBe('Platform_1')
    expect(await refusal(shopApi.sendMessage(ada.id, 'Hi'))).toBe('400 Bad Request: chat not found')
    await shopApi.deleteWebhook()
    expect((await shopApi.getWebhookInfo()).url).toBe('')
    expect((await api.getWebhookInfo()).url).toBe(platformHook.url)
  })

  test('receives an edit with its time', async () => {
    const { bot } = await customer()
    bot.say(cleo, 'Helo')
    const [message] = bot.chat(cleo)
    bot.edit(cleo, message?.message_id ?? 0, 'Hello')
    const [, edited] = await updatesAt(customerHook)
    expect(edited.edited_message).toMatchObject({ message_id: message?.message_id, text: 'Hello' })
    expect(edited.edited_message.edit_date).toBeGreaterThanOrEqual(edited.edited_message.date)
    expect(() => bot.edit(cleo, 1, 'x')).toThrow('Unknown message 1')
  })

  test('is rate-limited alone, and a revoked token affects only its own bot', async () => {
    const { bot, shopApi } = await customer()
    bot.say(cleo, 'Hello')
    telegram.say(cleo, 'Hello')
    bot.fail('sendMessage', { retry_after: 3 })
    expect(await refusal(shopApi.sendMessage(cleo.id, 'x'))).toBe('429 Too Many Requests: retry after 3')
    await api.sendMessage(cleo.id, 'x')
    bot.revoke()
    expect(await refusal(shopApi.getMe())).toBe('401 Unauthorized')
    expect((await api.getMe()).username).toBe('test_bot')
  })

  test('may have sent a message whose answer was lost', async () => {
    const { bot, shopApi } = await customer()
    bot.say(cleo, 'Hello')
    bot.fail('sendMessage', { hang_up: true })
    await expect(shopApi.sendMessage(cleo.id, 'Lost?')).rejects.toThrow()
    expect(bot.chat(cleo).map(({ text }) => text)).toEqual(['Hello', 'Lost?'])
  })
})

describe('a Business connection', () => {
  test('sends an update when it begins, changes and ends; a new connection gets a new id', async () => {
    const { connection } = telegram.business.connect(ada)
    telegram.business.change(connection.id, { canReply: false })
    telegram.business.change(connection.id, { enabled: false })
    const again = telegram.business.connect(ada, { canReply: false })
    const connections = (await updatesAt(platformHook)).map((update) => update.business_connection)
    expect(connections).toMatchObject([
      { id: connection.id, user: { id: ada.id }, user_chat_id: ada.id, rights: { can_reply: true }, is_enabled: true },
      { id: connection.id, rights: {}, is_enabled: true },
      { id: connection.id, is_enabled: false },
      { id: again.connection.id, rights: {}, is_enabled: true },
    ])
    expect(again.connection.id).not.toBe(connection.id)
    expect(await api.getBusinessConnection(again.connection.id)).toMatchObject({ is_enabled: true })
  })

  test('delivers both sides’ messages, edits and deletions', async () => {
    const { connection } = telegram.business.connect(ada)
    const { message } = telegram.business.say(connection.id, cleo, 'Helo')
    telegram.business.edit(connection.id, cleo, message, 'Hello')
    telegram.business.say(connection.id, cleo, 'Hi Cleo', { own: true })
    const sent = await api.sendMessage(cleo.id, 'In her name', { business_connection_id: connection.id })
    expect(sent).toMatchObject({ from: { id: ada.id }, sender_business_bot: { username: 'test_bot' } })
    telegram.business.remove(connection.id, cleo, [message.message_id])
    const [, received, edited, own, deleted] = await updatesAt(platformHook)
    const of = { business_connection_id: connection.id, chat: { id: cleo.id, type: 'private' } }
    expect(received.business_message).toMatchObject({ ...of, from: { id: cleo.id }, text: 'Helo' })
    expect(edited.edited_business_message).toMatchObject({ ...of, message_id: message.message_id, text: 'Hello' })
    expect(own.business_message).toMatchObject({ ...of, from: { id: ada.id } })
    expect(deleted.deleted_business_messages).toMatchObject({ ...of, message_ids: [message.message_id] })
  })

  test('refuses messages in Telegram’s words', async () => {
    const { connection } = telegram.business.connect(ada, { canReply: false })
    const { id } = connection
    const send = (chat: number, business_connection_id = id) =>
      refusal(api.sendMessage(chat, 'x', { business_connection_id }))
    expect(await send(cleo.id, 'unknown')).toBe('400 Bad Request: business connection not found')
    expect(await refusal(api.getBusinessConnection('unknown'))).toBe('400 Bad Request: business connection not found')
    expect(await send(-100)).toBe('400 Bad Request: chat must be a private chat')
    expect(await send(ada.id)).toBe('400 Bad Request: messages must not be sent to self')
    expect(await send(cleo.id)).toBe('403 Forbidden: BOT_ACCESS_FORBIDDEN')
    telegram.business.change(id, { canReply: true })
    expect(await send(cleo.id)).toBe('400 Bad Request: BUSINESS_PEER_INVALID')
    telegram.business.say(id, cleo, 'Mine', { own: true })
    expect(await send(cleo.id)).toBe('400 Bad Request: BUSINESS_PEER_USAGE_MISSING')
    telegram.business.change(id, { enabled: false })
    expect(await send(cleo.id)).toBe('400 Bad Request: BUSINESS_CONNECTION_INVALID')
  })
})

describe('the messenger’s page', () => {
  test('creates a bot at BotFather, which refuses in its own words, and sends it messages', async () => {
    const made = await post('bots', { name: 'Shop', username: '@shop_bot' })
    expect([made.status, made.body.username]).toEqual([201, 'shop_bot'])
    const shopApi = new Api(made.body.token, { apiRoot: telegram.url })
    expect(await shopApi.getMe()).toMatchObject({ username: 'shop_bot', first_name: 'Shop' })
    await shopApi.setWebhook(customerHook.url)
    await post('messages', { bot: 'shop_bot', name: 'Cleo', text: 'Hello' })
    expect((await updatesAt(customerHook))[0].message).toMatchObject({ text: 'Hello', from: { id: cleo.id } })
    await shopApi.sendMessage(cleo.id, 'Welcome')
    const chat = await stateOf('chat?bot=shop_bot&name=Cleo')
    expect(chat.map(({ text }: { text: string }) => text)).toEqual(['Hello', 'Welcome'])
    expect(await stateOf('chat?name=Cleo')).toEqual([])
    expect(await (await fetch(`${telegram.url}/shop_bot`)).text()).toContain('@shop_bot')
    expect((await post('messages', { bot: 'no_such_bot', name: 'Cleo', text: 'x' })).status).toBe(400)
    for (const [name, username, words] of [
      ['Shop', 'SHOP_BOT', /already taken/],
      ['Shop', 'shop', /invalid/],
      ['Shop', 'shop_keeper', /must end in 'bot'/],
      [' ', 'other_bot', /1 to 64 characters/],
    ] as const) {
      const declined = await post('bots', { name, username })
      expect([declined.status, declined.body.error]).toEqual([409, expect.stringMatching(words)])
    }
  })

  test('lets a person connect the platform’s bot, be written to by others, and disconnect it', async () => {
    await post('connection', { name: 'Ada', enabled: true, can_reply: true })
    await post('contact', { name: 'Ada', contact: 'Cleo', text: 'Hi Ada' })
    await post('contact', { name: 'Ada', contact: 'Cleo', text: 'Hi Cleo', own: true })
    await post('connection', { name: 'Ada', enabled: true, can_reply: false })
    expect(await stateOf('business?name=Ada')).toMatchObject({
      enabled: true,
      can_reply: false,
      chats: [{ contact: 'Cleo', messages: [{ text: 'Hi Ada' }, { text: 'Hi Cleo' }] }],
    })
    await post('connection', { name: 'Ada', enabled: false, can_reply: false })
    expect((await post('contact', { name: 'Ada', contact: 'Cleo', text: 'Too late' })).status).toBe(400)
    expect((await updatesAt(platformHook)).map((update) => Object.keys(update)[1])).toEqual([
      'business_connection',
      'business_message',
      'business_message',
      'business_connection',
      'business_connection',
    ])
  })

  test('lets no page of another origin create a bot or speak for a person', async () => {
    for (const path of ['bots', 'connection', 'contact', 'messages']) {
      expect((await post(path, { name: 'Ada' }, { origin: 'https://evil.example' })).status).toBe(403)
    }
    const tokens = await fetch(`${telegram.url}/messenger/bots`, { headers: { 'sec-fetch-site': 'cross-site' } })
    expect(tokens.status).toBe(403)
  })

  test('keeps bots with their webhooks, and connections, over a restart', async () => {
    const { body: made } = await post('bots', { name: 'Shop', username: 'shop_bot' })
    await new Api(made.token, { apiRoot: telegram.url }).setWebhook(customerHook.url, { secret_token: 'Shop_1' })
    await post('connection', { name: 'Ada', enabled: true, can_reply: true })
    await telegram.settled()
    await telegram.stop()
    telegram = await start()
    await new Api(PLATFORM.token, { apiRoot: telegram.url }).setWebhook(platformHook.url)
    platformHook.requests.splice(0)
    await post('messages', { bot: 'shop_bot', name: 'Cleo', text: 'Still here?' })
    expect((await updatesAt(customerHook))[0].message.text).toBe('Still here?')
    expect(customerHook.requests[0]?.headers['x-telegram-bot-api-secret-token']).toBe('Shop_1')
    await post('contact', { name: 'Ada', contact: 'Cleo', text: 'Hi Ada' })
    expect((await updatesAt(platformHook))[0].business_message.text).toBe('Hi Ada')
  })
})
