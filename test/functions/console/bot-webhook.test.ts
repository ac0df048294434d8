import { beforeEach, describe, expect, it } from 'vitest'
import { transactAndSend } from '#shared/foundation/queues/index.ts'
import type { Work } from '#shared/foundation/work/work.ts'
import { newId } from '#shared/kernel/ids.ts'
import { BotUpdateEntity } from '#shared/messaging/bot/entity.ts'
import { claimUpdate } from '#shared/messaging/bot/update-lease.ts'
import type { Write } from '#shared/table/entity.ts'
import { contents, difference } from '#testkit/contents.ts'
import { installed } from '#testkit/fixtures.ts'
import { actors, holdUntil } from '#testkit/oauth.ts'
import { startPlatform, TEST_BOT } from '#testkit/platform.ts'
import { usingTelegram } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()
const telegram = usingTelegram(platform)
beforeEach(() => {
  platform.clock.advance(60_000)
  telegram.answers.length = 0
})

let people = 0
const newPerson = (fields: object = {}) => telegram.person({ first_name: `Ben ${++people}`, ...fields })
type Person = ReturnType<typeof newPerson>

const say = async (person: Person, text: string) => {
  const id = telegram.say(person, text)
  await telegram.settled()
  return id
}
/** Returns the messages that the bot has sent to a person. */
const messagesFromBot = (person: Person) => telegram.chat(person).filter(({ from }) => from.is_bot)
const webhook = (body: unknown, headers: Record<string, string> = {}, on = platform) =>
  on.call('POST', '/console/bot/webhook', {
    body,
    headers: { 'x-telegram-bot-api-secret-token': TEST_BOT.webhookSecret, ...headers },
  })
let updates = 1_000
const message = (person: Person, text: string, more: object = {}) => ({
  update_id: ++updates,
  message: {
    message_id: 1,
    date: 1,
    chat: { id: person.id, type: 'private', first_name: person.first_name },
    from: person,
    text,
    ...more,
  },
})
const record = (update_id: number) => platform.deps.table.get(BotUpdateEntity, { bot_id: '42', update_id })

describe('the bot’s webhook', () => {
  it('refuses requests without the secret', async () => {
    const person = newPerson()
    telegram.say(person, 'x')
    await telegram.settled()
    const before = await contents(platform)
    for (const secret of [undefined, '', 'wrong', TEST_BOT.webhookSecret.slice(1), `${TEST_BOT.webhookSecret} `]) {
      const answer = await platform.call('POST', '/console/bot/webhook', {
        body: message(person, '/start'),
        headers: secret === undefined ? {} : { 'x-telegram-bot-api-secret-token': secret },
      })
      expect([answer.status, answer.body.error.code]).toEqual([401, 'unauthorized'])
    }
    expect(difference(before, await contents(platform))).toEqual({})
  })

  it('counts wrong secrets per address, and still accepts the right one from there', async () => {
    const strict = await startPlatform({ ADDRESS_RATE_LIMITS: 'true' })
    try {
      const wrong = { 'x-telegram-bot-api-secret-token': 'wrong' }
      const statuses = []
      for (let i = 0; i < 21; i++) statuses.push((await webhook({ update_id: i }, wrong, strict)).status)
      expect(statuses).toEqual([...Array(20).fill(401), 429])
      expect((await webhook({ update_id: 99 }, {}, strict)).status).toBe(200)
    } finally {
      await strict.stop()
    }
  })

  it('ignores everything but private messages from people, in any form, and stores nothing of it', async () => {
    const person = newPerson()
    const before = await contents(platform)
    const at = (chat: object) => message(person, '/start', { chat: { id: -100, ...chat } })
    for (const update of [
      at({ type: 'group' }),
      at({ type: 'supergroup' }),
      at({ type: 'channel' }),
      { update_id: ++updates, edited_message: message(person, '/start').message },
      { update_id: ++updates, channel_post: message(person, '/start').message },
      { update_id: ++updates, business_message: message(person, '/start').message },
      { update_id: ++updates, kind_of_the_future: { a: [1] } },
      { update_id: ++updates, message: 'text' },
      { update_id: ++updates, message: null },
      { update_id: ++updates, callback_query: { id: '1', from: person, data: 'join:x', inline_message_id: 'x' } },
      message({ ...person, is_bot: true as never }, '/start'),
      message(person, undefined as never, { photo: [] }),
      { update_id: ++updates },
    ]) {
      const answer = await webhook(update)
      expect([answer.status, answer.text], JSON.stringify(update)).toEqual([200, '{}'])
    }
    expect(messagesFromBot(person)).toEqual([])
    expect(difference(before, await contents(platform))).toEqual({})
  })

  it('answers an update once, however often it is delivered', async () => {
    const person = newPerson()
    const id = await say(person, '/start')
    expect(messagesFromBot(person)).toHaveLength(1)
    for (let i = 0; i < 3; i++) expect(await telegram.redeliver(id)).toBe(200)
    platform.clock.advance(36_000)
    expect(await telegram.redeliver(id)).toBe(200)
    expect(messagesFromBot(person)).toHaveLength(1)
    expect(await record(id)).toMatchObject({ state: 'done' })
  })

  it('answers an update once when requests for it are concurrent, and asks the others to retry', async () => {
    const person = newPerson()
    await say(person, 'hello')
    const update = message(person, '/start')
    const release = holdUntil(platform, 'bot-update', 3)
    // The first request answers only after the others have been refused.
    const { bot } = platform.deps
    const othersRefused = Promise.withResolvers<void>()
    platform.deps.bot = {
      ...bot,
      call: (method, payload) => othersRefused.promise.then(() => bot.call(method, payload)),
    }
    let late = 0
    const send = async () => {
      const answer = await webhook(update)
      if (++late === 2) othersRefused.resolve()
      return answer
    }
    const answers = await Promise.all([send(), send(), send()])
    release()
    platform.deps.bot = bot
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409])
    const refused = answers.find(({ status }) => status === 409)
    expect(refused?.body.error.code).toBe('conflict')
    expect(Number(refused?.headers['retry-after'])).toBeGreaterThan(0)
    expect(messagesFromBot(person)).toHaveLength(2)
    expect((await webhook(update)).status).toBe(200)
    expect(messagesFromBot(person)).toHaveLength(2)
  })

  it('answers an update whose request crashed in a later one, once the first can’t be running any more', async () => {
    const { table } = platform.deps
    const { transact } = table
    for (const [deadly, count] of [
      ['claimed', 1],
      ['done', 2],
    ] as const) {
      const person = newPerson()
      await say(person, 'hello')
      const update = message(person, '/start')
      // The process dies at this write: before it if the bot has sent its message, otherwise right after it. It
      // releases nothing.
      let dead = false
      table.transact = async (writes) => {
        if (dead) throw new Error('the process is dead')
        const state = writes[0]?.item?.state ?? writes[0]?.changes?.set?.state
        dead = state === deadly
        if (state !== 'done') await transact.call(table, writes)
        if (dead) throw new Error('the process died')
      }
      expect((await webhook(update)).status).toBe(500)
      table.transact = transact
      expect((await webhook(update)).status).toBe(409)
      platform.clock.advance(35_001)
      expect((await webhook(update)).status).toBe(200)
      expect(messagesFromBot(person)).toHaveLength(1 + count)
      expect((await webhook(update)).status).toBe(200)
      expect(messagesFromBot(person)).toHaveLength(1 + count)
    }
  })

  it('discards the result of a slow request that has lost its claim to another one', async () => {
    const work = (requestId: string): Work => ({
      ...platform.deps,
      requestId,
      sourceIp: undefined,
      id: (kind) => newId(kind, platform.clock.now()),
      commit: (writes) => transactAndSend(platform.deps, writes),
    })
    const update_id = ++updates
    const slow = await claimUpdate(work('req_slow'), '42', update_id)
    platform.clock.advance(35_001)
    const next = await claimUpdate(work('req_next'), '42', update_id)
    for (const write of [slow?.joined('ws_x'), slow?.done()]) {
      await expect(platform.deps.table.transact([write as Write])).rejects.toMatchObject({ code: 'conflict' })
    }
    await expect(slow?.release()).rejects.toMatchObject({ code: 'conflict' })
    await platform.deps.table.transact([next?.done() as Write])
    expect(await record(update_id)).toMatchObject({ state: 'done', owner: 'req_next' })
  })

  it.each([
    ['rate limited it', { retry_after: 1 }],
    ['failed', { error_code: 502, description: 'Bad Gateway' }],
  ])('asks for redelivery when the Bot API has %s, and then answers once', async (_what, failure) => {
    const person = newPerson()
    await say(person, 'hello')
    telegram.fail('sendMessage', failure)
    telegram.answers.length = 0
    const id = await say(person, '/start')
    expect(telegram.answers).toEqual([409, 200])
    expect(messagesFromBot(person)).toHaveLength(2)
    expect(await record(id)).toMatchObject({ state: 'done' })
  })

  it('asks for redelivery even when the claim can’t be released', async () => {
    const { table } = platform.deps
    const { transact } = table
    const person = newPerson()
    await say(person, 'hello')
    telegram.fail('sendMessage', { retry_after: 3 })
    table.transact = async (writes) => {
      if (writes[0]?.changes?.set?.locked_until === 0) throw new Error('the store is down')
      await transact.call(table, writes)
    }
    const answer = await webhook(message(person, '/start'))
    table.transact = transact
    expect([answer.status, answer.headers['retry-after']]).toEqual([409, '3'])
    expect(platform.logs.join()).toContain('the store is down')
  })

  it('waits as long as the Bot API asks to', async () => {
    const person = newPerson()
    await say(person, 'hello')
    telegram.fail('sendMessage', { retry_after: 17 })
    const answer = await webhook(message(person, '/start'))
    expect([answer.status, answer.headers['retry-after']]).toEqual([409, '17'])
  })

  it('doesn’t ask for redelivery when the person has blocked the bot, and logs that', async () => {
    const person = newPerson()
    await say(person, 'hello')
    telegram.block(person)
    platform.logs.length = 0
    const update = message(person, '/start')
    expect((await webhook(update)).status).toBe(200)
    expect(await record(update.update_id)).toMatchObject({ state: 'done' })
    const logged = platform.logs.map((line) => JSON.parse(line)).find(({ level }) => level === 'warn')
    expect(logged).toMatchObject({
      method: 'sendMessage',
      status: 403,
      description: expect.stringContaining('blocked'),
    })
    expect(JSON.stringify(logged)).not.toContain(person.first_name)
  })
})

describe('/start', () => {
  it('explains what the bot is for', async () => {
    const person = newPerson()
    await say(person, '/start')
    await say(person, '/start@platform_bot ')
    expect(messagesFromBot(person).map(({ text }) => text)).toEqual([
      expect.stringContaining('sign-in bot'),
      expect.stringContaining('sign-in bot'),
    ])
  })

  it.each([
    '/start nonsense',
    '/start oauth_',
    '/start oauth_a.b',
    `/start ${'x'.repeat(65)}`,
    '/start oauth_a b',
    '/start\noauth_a',
    '/startle',
    '/help',
    'hello',
  ])('replies to anything else (%j) that it doesn’t know it', async (text) => {
    const person = newPerson()
    await say(person, text)
    expect(messagesFromBot(person).map((one) => one.text)).toEqual([expect.stringContaining('don’t know that command')])
    expect(telegram.answers).toEqual([200])
  })

  describe('with a consent link', () => {
    const asked = async () => {
      const { app } = await installed(platform.deps)
      return { app, tg: await actors(platform).link(app) }
    }
    const lastOf = (person: Person) => messagesFromBot(person).at(-1)

    it('names the app and opens the consent page as a Mini App, whose init data signs the person in', async () => {
      const { app, tg } = await asked()
      const person = newPerson()
      await say(person, `/start oauth_${tg}`)
      const { text, message_id, reply_markup } = lastOf(person) as NonNullable<ReturnType<typeof lastOf>>
      expect(text).toContain(`“${app.name}”`)
      expect(reply_markup?.inline_keyboard.flat()).toEqual([
        { text: expect.any(String), web_app: { url: `https://platform.test/oauth/consent/mini-app?tg=${tg}` } },
      ])
      const pressed = telegram.press(person, message_id, 0)
      const initData = new URL((pressed as { url: string }).url).hash.slice(1)
      const session = await platform.call('POST', '/console/bot/webapp-auth', {
        body: { init_data: new URLSearchParams(initData).get('tgWebAppData') },
      })
      const { token } = session.body
      expect((await platform.call('GET', `/oauth/consent/request?tg=${tg}`, { token })).body.app.id).toBe(app.id)
    })

    it('doesn’t assign the request to a person who only opened the message', async () => {
      const { tg } = await asked()
      await say(newPerson(), `/start oauth_${tg}`)
      const other = await actors(platform).signIn()
      expect((await platform.call('GET', `/oauth/consent/request?tg=${tg}`, { token: other.token })).status).toBe(200)
    })

    it.each(['unknown', 'decided', 'expired', 'another person’s', 'of a suspended app'])(
      'that is %s explains that and the next step, without a button',
      async (what) => {
        const { app, tg } = await asked()
        const person = newPerson()
        const owner = await actors(platform).signIn()
        if (what === 'decided') await actors(platform).decide(owner.token, tg, { decision: 'deny' })
        if (what === 'expired') platform.clock.advance(600_000)
        if (what === 'another person’s') await actors(platform).open(owner.token, tg)
        if (what === 'of a suspended app') {
          await platform.call('POST', `/admin/apps/${app.id}/suspend`, {
            headers: { 'x-admin-key': 'local-admin-key' },
            body: { reason: 'It leaks.' },
          })
        }
        await say(person, `/start oauth_${what === 'unknown' ? 'unknown' : tg}`)
        expect(lastOf(person)?.reply_markup).toBeUndefined()
        expect(lastOf(person)?.text).toContain(what === 'of a suspended app' ? 'suspended' : 'new link')
      },
    )

    it('works when the same person opened it before', async () => {
      const { tg } = await asked()
      const person = newPerson()
      const init_data = telegram.initData(person)
      const { token } = (await platform.call('POST', '/console/bot/webapp-auth', { body: { init_data } })).body
      await actors(platform).open(token, tg)
      await say(person, `/start oauth_${tg}`)
      expect(lastOf(person)?.reply_markup).toBeDefined()
    })
  })
})

it('people are created by signing in and joining, not by writing to the bot', async () => {
  const before = await contents(platform)
  await say(newPerson(), '/start')
  expect(difference(before, await contents(platform))).toEqual({ 'new bot-chat': 1, 'new bot-update': 1 })
})

it('logs contain no token, secret or nonce', async () => {
  const { app } = await installed(platform.deps)
  const tg = await actors(platform).link(app)
  await say(newPerson(), `/start oauth_${tg}`)
  const logs = platform.logs.join('\n')
  expect(logs).toContain('console.bot.receiveUpdate')
  for (const secret of [TEST_BOT.token, TEST_BOT.webhookSecret, tg]) expect(logs).not.toContain(secret)
})
