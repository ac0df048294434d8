import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { keepsAnswers } from '#shared/http/endpoint.ts'
import { ANONYMOUS_RATES } from '#shared/kernel/limits.ts'
import { newSecret } from '#shared/kernel/secrets.ts'
import { contents, difference } from '#testkit/contents.ts'
import { unique } from '#testkit/developers.ts'
import { installed } from '#testkit/fixtures.ts'
import { actors } from '#testkit/oauth.ts'
import { createStage } from '#testkit/stage.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { endpoints, expectRefusal, nameOf } from './support.ts'

const platform = usingPlatform({ ADDRESS_RATE_LIMITS: 'true' })
const act = actors(platform)
beforeEach(() => platform.clock.advance(24 * 3_600_000))

const register = (sourceIp: string, headers: Record<string, string> = {}, email = `${unique('dev')}@example.com`) =>
  platform.call('POST', '/api/v1/dev/register', { sourceIp, headers, body: { email, name: 'Ada' } })

const validate = (sourceIp: string, headers: Record<string, string> = {}) =>
  platform.call('POST', '/api/v1/dev/manifest/validate', { sourceIp, headers, body: { any: 'x'.repeat(10_000) } })

describe('requests without credentials', () => {
  it('are limited at every endpoint that writes, unless a secret is required', () => {
    const unlimited = endpoints.filter(
      ({ caller, anonymous, needs }) => caller === 'none' && !anonymous && needs.includes('table:write'),
    )
    expect(unlimited.map(nameOf).sort()).toEqual([
      'POST /a2a/push/{id}',
      'POST /console/bot/webhook',
      'POST /console/messenger/updates/{id}',
    ])
    // Strangers would lock keys there before the secret is checked.
    expect(unlimited.filter(keepsAnswers)).toEqual([])
  })

  it('with wrong tokens for push notifications cost one read each and write nothing, however many come', async () => {
    const stage = await createStage(platform)
    const { run, token } = await stage.followed()
    const commands: string[] = []
    platform.store.client.middlewareStack.add(
      (next, { commandName = '' }) =>
        (args) => {
          commands.push(commandName)
          return next(args)
        },
      { step: 'initialize', name: 'commands' },
    )
    const notify = (sent?: string, id: string = run.id) =>
      platform.call('POST', `/a2a/push/${id}`, {
        sourceIp: '198.51.100.40',
        headers: { 'idempotency-key': randomUUID(), ...(sent !== undefined && { 'x-a2a-notification-token': sent }) },
        body: {},
      })
    try {
      const flood = await Promise.all(Array.from({ length: 60 }, () => notify(newSecret())))
      expect(new Set(flood.map(({ status }) => status))).toEqual(new Set([401]))
      expect(commands).toEqual(Array(60).fill('GetItemCommand'))
      commands.length = 0
      for (const sent of [undefined, 'x', `${token}x`, ' '.repeat(43)]) expect((await notify(sent)).status).toBe(401)
      expect(commands).toEqual([])
      // The flood keeps nobody from the address who has the token.
      expect((await notify(token)).status).toBe(200)
      commands.length = 0
      expect((await notify(token)).status).toBe(200)
      expect(commands).toEqual(['GetItemCommand'])
    } finally {
      platform.store.client.middlewareStack.remove('commands')
      await stage.close()
    }
  })

  it('create at most five accounts at once from one address, and other addresses aren’t affected', async () => {
    const { burst } = ANONYMOUS_RATES.register.address
    for (let n = 0; n < burst; n++) expect((await register('198.51.100.1')).status).toBe(201)
    const refused = await register('198.51.100.1', { 'x-forwarded-for': '198.51.100.99' })
    expectRefusal(refused, 'the sixth account', 'rate_limited')
    expect(refused.body.error.details).toEqual({ limit_scope: 'address' })
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
    expect((await register('198.51.100.2')).status).toBe(201)
    // The same subscriber with another address of their IPv6 network.
    for (let n = 0; n < burst; n++) await register(`2001:db8:0:1::${n}`)
    expectRefusal(await register('2001:db8:0:1:ffff::1'), 'the same /64', 'rate_limited')
  })

  it('create accounts at the rate of the stage, however many addresses they come from', async () => {
    const { burst } = ANONYMOUS_RATES.register.stage
    const answers = await Promise.all(Array.from({ length: burst + 4 }, (_, n) => register(`203.0.113.${n}`)))
    const refused = answers.filter(({ status }) => status === 429)
    expect(refused).toHaveLength(4)
    expect(refused[0]?.body.error.details).toEqual({ limit_scope: 'stage' })
  })

  it('store consent requests, sign in and validate at a limited rate per address', async () => {
    const { app } = await installed(platform.deps, { scopes: ['runs:read'] })
    const attempts = {
      authorize: () => act.authorize(app),
      signIn: () => platform.call('POST', '/console/bot/webapp-auth', { body: { init_data: 'x' } }),
      read: () => platform.call('POST', '/api/v1/dev/manifest/validate', { body: {} }),
    }
    for (const [kind, attempt] of Object.entries(attempts)) {
      const { burst } = ANONYMOUS_RATES[kind as keyof typeof attempts].address
      const answers = await Promise.all(Array.from({ length: burst + 3 }, attempt))
      const byAddress = answers.filter(({ body }) => body?.error?.code === 'rate_limited')
      expect(byAddress.length, kind).toBeGreaterThanOrEqual(3)
      platform.clock.advance(24 * 3_600_000)
      expect((await attempt()).status, `${kind}, a day later`).not.toBe(429)
    }
  })

  it('store nothing under an Idempotency-Key if they change nothing', async () => {
    await validate('198.51.100.20')
    const before = await contents(platform)
    const key = { 'idempotency-key': randomUUID() }
    const [first, second] = [await validate('198.51.100.20', key), await validate('198.51.100.20', key)]
    expect([first.status, second.status]).toEqual([200, 200])
    expect(second.headers['idempotency-replayed']).toBeUndefined()
    const email = `${unique('dev')}@example.com`
    expect((await register('198.51.100.21', {}, email)).status).toBe(201)
    const registered = await contents(platform)
    expect((await register('198.51.100.21', { 'idempotency-key': randomUUID() }, email)).status).toBe(409)
    expect((await register('198.51.100.21', { 'idempotency-key': randomUUID() }, 'no address')).status).toBe(422)
    expect(difference(before, registered)['kept-answer']).toBeUndefined()
    expect(difference(registered, await contents(platform))).toEqual({})
  })

  it('have small bodies', async () => {
    const big = { email: 'a@example.com', name: 'x', company: 'x'.repeat(9_000) }
    const answer = await platform.call('POST', '/api/v1/dev/register', { sourceIp: '198.51.100.30', body: big })
    expectRefusal(answer, 'a large registration', 'payload_too_large')
  })
})
