import { describe, expect, it } from 'vitest'
import { LIMITS } from '#shared/kernel/limits.ts'
import { newDeveloper } from '#testkit/developers.ts'
import type { TestPlatform } from '#testkit/platform.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()

const start = (body: object) => platform.call('POST', '/api/v1/dev/session', { body })

const as = (key: string, method = 'GET', path = '/api/v1/dev/me') =>
  platform.call(method, path, { headers: { 'x-developer-key': key } })

const emailOf = async (key: string): Promise<string> => (await as(key)).body.email

/** Requests a sign-in link and returns its code. */
const mailedCode = async ({ mails, call }: TestPlatform, email: string): Promise<string> => {
  const { status } = await call('POST', '/api/v1/dev/sign-in', { body: { email } })
  expect(status).toBe(200)
  return /#\/sign-in\/(dvt_\S+)/.exec(mails.at(-1)?.text ?? '')?.[1] ?? ''
}

describe('POST /api/v1/dev/session', () => {
  it('exchanges a key for a session that ends after 12 hours, and that is no named key', async () => {
    const { key } = await newDeveloper(platform)
    const { status, body } = await start({ api_key: key })
    expect(status).toBe(201)
    expect(body).toEqual({ session_key: expect.stringMatching(/^dvs_/), expires_in: 43_200, keys_ended: false })
    expect((await as(body.session_key)).status).toBe(200)
    expect((await as(body.session_key, 'GET', '/api/v1/dev/me/keys')).body.items).toEqual([])
    platform.clock.advance(LIMITS.developerSessionLife)
    expect((await as(body.session_key)).status).toBe(401)
    expect((await as(key)).status).toBe(200)
  })

  it('refuses a wrong key, an ended session, and a body with both or neither', async () => {
    const { key } = await newDeveloper(platform)
    expect((await start({ api_key: 'dvk_wrong' })).body.error.code).toBe('unauthorized')
    expect((await start({})).body.error.code).toBe('validation_error')
    expect((await start({ api_key: key, token: 'dvt_x' })).body.error.code).toBe('validation_error')
    const { session_key } = (await start({ api_key: key })).body
    expect((await as(session_key, 'DELETE', '/api/v1/dev/session')).status).toBe(204)
    expect((await start({ api_key: session_key })).body.error.code).toBe('unauthorized')
  })

  it('ends the oldest session above ten, and no key', async () => {
    const { key } = await newDeveloper(platform)
    const sessions: string[] = []
    for (let i = 0; i <= LIMITS.sessionsPerDeveloper; i++)
      sessions.push((await start({ api_key: key })).body.session_key)
    const answers = await Promise.all([...sessions, key].map((one) => as(one)))
    expect(answers.map(({ status }) => status)).toEqual([401, ...Array(LIMITS.sessionsPerDeveloper + 1).fill(200)])
  })

  it('confirms the address with a first link, ends keys made before it, and leaves later ones', async () => {
    const squatter = await newDeveloper(platform)
    const email = await emailOf(squatter.key)
    const code = await mailedCode(platform, email)
    const { body } = await start({ token: code })
    expect(body.keys_ended).toBe(true)
    expect((await as(squatter.key)).status).toBe(401)
    expect((await as(body.session_key)).body.email_verified).toBe(true)
    const headers = { 'x-developer-key': body.session_key }
    const named = await platform.call('POST', '/api/v1/dev/me/keys', {
      headers,
      body: { name: 'ci', expires_in_days: 30 },
    })
    const again = await start({ token: await mailedCode(platform, email) })
    expect(again.body.keys_ended).toBe(false)
    expect((await as(named.body.api_key)).status).toBe(200)
  })

  it('accepts a link’s code once, and no code that was sent for another purpose', async () => {
    const { key } = await newDeveloper(platform)
    const email = await emailOf(key)
    const code = await mailedCode(platform, email)
    expect((await start({ token: code })).status).toBe(201)
    expect((await start({ token: code })).body.error.code).toBe('forbidden')
    await platform.call('POST', '/api/v1/dev/recover', { body: { email } })
    const recovery = /dvt_\S+/.exec(platform.mails.at(-1)?.text ?? '')?.[0]
    expect((await start({ token: recovery })).body.error.code).toBe('forbidden')
  })

  it('ends with a block of the account, also of one whose main key ended, and returns with the unblocking', async () => {
    const developer = await newDeveloper(platform)
    const { body } = await start({ token: await mailedCode(platform, await emailOf(developer.key)) })
    const admin = { 'x-admin-key': 'local-admin-key' }
    const block = await platform.call('POST', `/admin/developers/${developer.id}/block`, {
      headers: admin,
      body: { reason: 'Spam.' },
    })
    expect(block.status).toBe(200)
    expect((await as(body.session_key)).body.error.code).toBe('not_a_developer')
    await platform.call('POST', `/admin/developers/${developer.id}/unblock`, { headers: admin })
    expect((await as(body.session_key)).status).toBe(200)
  })
})

describe('POST /api/v1/dev/sign-in', () => {
  it('answers the same for an unknown address, and sends nothing', async () => {
    const before = platform.mails.length
    const answer = await platform.call('POST', '/api/v1/dev/sign-in', { body: { email: 'nobody@example.com' } })
    expect(answer.body).toEqual({ accepted: true })
    expect(platform.mails.length).toBe(before)
  })
})

describe('DELETE /api/v1/dev/session', () => {
  it('ends no key that isn’t a session', async () => {
    const { key } = await newDeveloper(platform)
    expect((await as(key, 'DELETE', '/api/v1/dev/session')).body.error.code).toBe('conflict')
    expect((await as(key)).status).toBe(200)
  })
})
