import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createTelegramBot } from '#shared/adapters/telegram.ts'
import { TestClock } from '#testkit/clock.ts'
import { type Receiver, startReceiver } from '#testkit/receiver.ts'

const CREDENTIALS = { token: '42:token-of-the-bot', webhookSecret: 'webhook-secret-of-the-bot' }

let api: Receiver
beforeEach(async () => {
  api = await startReceiver()
})
afterEach(() => api.close())

const bot = (changes: Partial<Parameters<typeof createTelegramBot>[0]> = {}) =>
  createTelegramBot({ credentials: async () => CREDENTIALS, apiUrl: api.url, clock: new TestClock(), ...changes })
const say = (on = bot()) => on.call('sendMessage', { chat_id: 7, text: 'hello' })
const answering = (status: number, body: object) => api.answer({ kind: 'answer', status, body: JSON.stringify(body) })

describe('a call of the Bot API', () => {
  it('is sent to the bot’s own address as JSON, and returns the method’s result', async () => {
    answering(200, { ok: true, result: { message_id: 3 } })
    expect(await say()).toEqual({ ok: true, result: { message_id: 3 } })
    const [request] = api.requests
    expect(request).toMatchObject({ method: 'POST', path: '/bot42:token-of-the-bot/sendMessage' })
    expect(JSON.parse(request?.body.toString() ?? '')).toEqual({ chat_id: 7, text: 'hello' })
  })

  it.each([
    [400, 'Bad Request: chat not found', false],
    [401, 'Unauthorized', true],
    [403, 'Forbidden: bot was blocked by the user', false],
    [404, 'Not Found', true],
    [429, 'Too Many Requests: retry after 9', true],
    [500, 'Internal Server Error', true],
  ])('that fails with %d says so, and whether a retry may help', async (status, description, retry) => {
    const parameters = status === 429 ? { parameters: { retry_after: 9 } } : {}
    answering(status, { ok: false, error_code: status, description, ...parameters })
    const waits = status === 429 ? { retryAfterMs: 9_000 } : {}
    expect(await say()).toEqual({ ok: false, retry, status, description, ...waits })
  })

  it('removes quoted values from the Bot API’s description', async () => {
    const description = "Bad Request: inline keyboard button URL 'https://p.test/?tg=nonce' is invalid: Wrong HTTP URL"
    answering(400, { ok: false, error_code: 400, description })
    expect(await say()).toMatchObject({
      description: 'Bad Request: inline keyboard button URL … is invalid: Wrong HTTP URL',
    })
  })

  it.each([
    ['an answer that isn’t JSON', { kind: 'answer', status: 502, body: '<html>Bad Gateway</html>' }],
    ['a connection that breaks', { kind: 'reset', when: 'before' }],
  ] as const)('with %s may be retried; no part of the error contains the token', async (_what, script) => {
    api.answer(script)
    const answer = await say()
    expect(answer).toMatchObject({ ok: false, retry: true, status: undefined })
    expect(JSON.stringify(answer)).not.toContain('token-of-the-bot')
    expect(api.requests).toHaveLength(1)
  })

  it('does not follow a redirect', async () => {
    await using elsewhere = await startReceiver()
    api.answer({ kind: 'redirect', status: 307, location: `${elsewhere.url}/stolen` })
    expect(await say()).toMatchObject({ ok: false, retry: true, status: undefined })
    expect(elsewhere.requests).toEqual([])
  })

  it('without a listener reports the system’s code', async () => {
    const { url } = api
    await api.close()
    expect(await say(bot({ apiUrl: url }))).toMatchObject({ description: 'no answer: ECONNREFUSED' })
    api = await startReceiver()
  })

  it('that hangs is aborted after 8 seconds', async () => {
    api.answer({ kind: 'hang' })
    const started = performance.now()
    expect(await say()).toMatchObject({ ok: false, retry: true })
    const took = performance.now() - started
    expect(took).toBeGreaterThan(7_500)
    expect(took).toBeLessThan(20_000)
  })

  it('is not made where no bot is configured', async () => {
    expect(await say(bot({ credentials: async () => undefined }))).toMatchObject({ ok: false, retry: false })
    expect(api.requests).toEqual([])
  })

  it('uses a new token as soon as there is one', async () => {
    answering(200, { ok: true, result: { id: 1, is_bot: true, first_name: 'B', username: 'first_bot' } })
    let token = '42:one'
    const own = bot({ credentials: async () => ({ ...CREDENTIALS, token }) })
    await own.me()
    token = '43:two'
    answering(200, { ok: true, result: { id: 2, is_bot: true, first_name: 'B', username: 'second_bot' } })
    expect(await own.me()).toMatchObject({ result: { username: 'second_bot' } })
    expect(api.requests.map(({ path }) => path)).toEqual(['/bot42:one/getMe', '/bot43:two/getMe'])
  })
})
