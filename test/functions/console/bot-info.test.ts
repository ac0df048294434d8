import { afterEach, beforeEach, expect, it } from 'vitest'
import { createTelegramBot } from '#shared/adapters/telegram.ts'
import { startPlatform, TEST_BOT, type TestPlatform } from '#testkit/platform.ts'
import { startReceiver } from '#testkit/receiver.ts'
import { startTelegram } from '#testkit/telegram.ts'

let platform: TestPlatform
beforeEach(async () => {
  platform = await startPlatform()
})
afterEach(() => platform.stop())

const info = (on = platform) => on.call('GET', '/console/bot/info')
const MINUTE = 60_000

/** Starts a platform whose Bot API answers as scripted. */
const botApi = async (answer: object, status = 200) => {
  const receiver = await startReceiver()
  receiver.answer({ kind: 'answer', status, body: JSON.stringify(answer) })
  platform.deps.bot = createTelegramBot({
    credentials: async () => TEST_BOT,
    apiUrl: receiver.url,
    clock: platform.clock,
  })
  return receiver
}

it('returns the bot’s address, and the login widget for Telegram’s own bots', async () => {
  const telegram = await startTelegram(platform)
  expect((await info()).body).toEqual({
    username: 'platform_bot',
    url: 'https://t.me/platform_bot',
    login_widget: true,
  })
  await telegram.stop()
})

it('returns the stand-in’s address when there is one, without the widget', async () => {
  const local = await startPlatform({ TELEGRAM_LINK_URL: 'http://127.0.0.1:9999/' })
  const telegram = await startTelegram(local)
  expect((await info(local)).body).toEqual({
    username: 'platform_bot',
    url: 'http://127.0.0.1:9999/platform_bot',
    login_widget: false,
  })
  await telegram.stop()
  await local.stop()
})

it('asks the Bot API once in ten minutes, and uses the last answer while that is down', async () => {
  await using api = await botApi({
    ok: true,
    result: { id: 42, is_bot: true, first_name: 'P', username: 'platform_bot' },
  })
  for (let i = 0; i < 3; i++) expect((await info()).status).toBe(200)
  expect(api.requests.map(({ path }) => path)).toEqual([`/bot${TEST_BOT.token}/getMe`])
  platform.clock.advance(10 * MINUTE)
  api.answer({ kind: 'reset', when: 'before' })
  expect((await info()).body.username).toBe('platform_bot')
  expect(api.requests).toHaveLength(2)
})

it('reports that the Bot API never answered, and asks again at the next request', async () => {
  const down = await info()
  expect([down.status, down.body.error.code, down.headers['retry-after']]).toEqual([409, 'conflict', '5'])
  await using api = await botApi({ ok: false, error_code: 401, description: 'Unauthorized' }, 401)
  expect((await info()).status).toBe(409)
  api.answer({ kind: 'answer', body: '<html>' })
  expect((await info()).status).toBe(409)
  api.answer({ kind: 'redirect', location: 'http://127.0.0.1:1/elsewhere' })
  expect((await info()).status).toBe(409)
  expect(api.requests).toHaveLength(3)
  for (const text of [down.text, ...platform.logs]) expect(text).not.toContain(TEST_BOT.token)
})

it('is empty while no bot is configured', async () => {
  platform.deps.bot = createTelegramBot({
    credentials: async () => undefined,
    apiUrl: 'http://127.0.0.1:1',
    clock: platform.clock,
  })
  expect((await info()).body).toEqual({ username: null, url: null, login_widget: false })
})
