import { beforeEach, describe, expect, it } from 'vitest'
import { AuditEntity } from '#shared/staff/audit/entity.ts'
import { createAuthenticator, type TestAuthenticator } from '#testkit/passkeys.ts'
import type { Answer } from '#testkit/platform.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const MINUTE = 60_000
const KEY = { 'x-admin-key': 'local-admin-key' }
const PASSWORD = 'correct horse battery staple'

const platform = usingPlatform()
beforeEach(() => platform.clock.advance(60 * MINUTE))

let people = 0

const newAdmin = async (role: 'superadmin' | 'moderator' = 'superadmin') => {
  const email = `target${++people}@example.com`
  const body = { email, name: 'Mo', role, password: PASSWORD }
  const answer = await platform.call('POST', '/admin/admins', { headers: KEY, body })
  return { id: answer.body.id as string, email }
}
const attempt = (email: string, password: string, sourceIp: string) => {
  platform.clock.advance(10)
  return platform.call('POST', '/admin/auth/login', { body: { email, password }, sourceIp })
}
const signIn = async (email: string) => (await attempt(email, PASSWORD, '198.51.100.1')).body.token as string
const call = (method: string, path: string, token: string, body?: unknown): Promise<Answer> => {
  platform.clock.advance(100)
  return platform.call(method, path, { token, body })
}
const options = async (token: string, path = '/admin/me/confirm/passkey/options') =>
  (await call('POST', path, token)).body
const add = async (token: string, authenticator: TestAuthenticator) =>
  call('POST', '/admin/me/passkeys', token, {
    name: 'Key',
    ...authenticator.create(await options(token, '/admin/me/passkeys/options')),
  })
const confirm = (token: string, body: unknown) => call('POST', '/admin/me/confirm/passkey', token, body)
/** Creates an admin with a passkey, and a session that has given only the password. */
const guarded = async () => {
  const { id, email } = await newAdmin()
  const authenticator = createAuthenticator()
  const token = await signIn(email)
  expect((await add(token, authenticator)).status).toBe(201)
  return { id, email, authenticator, token, stolen: await signIn(email) }
}
const codeOf = ({ status, body }: Answer) => [status, body?.error?.code]

describe('guessing an admin’s password', () => {
  it('locks the guesser’s address, never the account', async () => {
    const { email } = await newAdmin()
    for (let n = 0; n < 40; n++) expect((await attempt(email, 'a guess', `203.0.113.${n}`)).status).toBe(401)
    expect((await attempt(email, PASSWORD, '198.51.100.7')).status).toBe(200)
    for (let n = 0; n < 5; n++) expect((await attempt(email, 'a guess', '192.0.2.1')).status).toBe(401)
    expect(codeOf(await attempt(email, PASSWORD, '192.0.2.1'))).toEqual([429, 'rate_limited'])
    expect((await attempt(email, PASSWORD, '198.51.100.7')).status).toBe(200)
  })

  it('locks nobody else out of changing their password', async () => {
    const { email } = await newAdmin()
    const [mine, stolen] = [await signIn(email), await signIn(email)]
    const change = (token: string, current_password: string, sourceIp: string) =>
      platform.call('POST', '/admin/me/password', {
        token,
        sourceIp,
        body: { current_password, new_password: 'a brand new password' },
      })
    for (let n = 0; n < 5; n++) expect((await change(stolen, 'a guess', `203.0.113.${n}`)).status).toBe(403)
    // The session is counted as well as the address.
    expect((await change(stolen, PASSWORD, '203.0.113.99')).status).toBe(429)
    expect((await change(mine, PASSWORD, '198.51.100.1')).status).toBe(200)
  })
})

describe('a stolen token', () => {
  it('ends when its owner signs out, here or from another device', async () => {
    const { email } = await newAdmin()
    const [laptop, phone, tablet] = [await signIn(email), await signIn(email), await signIn(email)]
    expect((await call('DELETE', '/admin/session', laptop)).status).toBe(204)
    expect((await call('GET', '/admin/me', laptop)).status).toBe(401)

    const { items } = (await call('GET', '/admin/me/sessions', phone)).body
    expect(items).toMatchObject([{ current: false }, { current: true, source_ip: '198.51.100.1' }])
    const other = items.find(({ current }: { current: boolean }) => !current)
    expect((await call('DELETE', `/admin/me/sessions/${other.id}`, phone)).status).toBe(204)
    expect((await call('GET', '/admin/me', tablet)).status).toBe(401)

    const more = await signIn(email)
    expect((await call('DELETE', '/admin/me/sessions', phone)).status).toBe(204)
    expect((await call('GET', '/admin/me', more)).status).toBe(401)
    expect((await call('GET', '/admin/me/sessions', phone)).body.total).toBe(1)
  })

  it('is ended by another superadmin, and by none of lower rank', async () => {
    const { id, email } = await newAdmin()
    const stolen = await signIn(email)
    const moderator = await signIn((await newAdmin('moderator')).email)
    for (const method of ['GET', 'DELETE'])
      expect(codeOf(await call(method, `/admin/admins/${id}/sessions`, moderator))).toEqual([403, 'admin_required'])
    expect((await platform.call('DELETE', `/admin/admins/${id}/sessions`, { headers: KEY })).status).toBe(204)
    expect((await call('GET', '/admin/me', stolen)).status).toBe(401)
    const entries = await platform.deps.table.query(AuditEntity, { scope: 'platform' }, { limit: 1 })
    expect(entries.items[0]).toMatchObject({ action: 'admin.signed_out', target: { id }, details: { all: true } })
  })

  it('ends no session of another account', async () => {
    const [mine, victim] = [await newAdmin('moderator'), await newAdmin('moderator')]
    const [token, theirs] = [await signIn(mine.email), await signIn(victim.email)]
    const { session } = (await call('GET', '/admin/me', theirs)).body
    expect((await call('DELETE', `/admin/me/sessions/${session.id}`, token)).status).toBe(404)
    expect((await call('GET', '/admin/me', theirs)).status).toBe(200)
  })

  it('adds no passkey, makes no key and exports nothing once its last confirmation is 10 minutes old', async () => {
    const { id, token, passkeys } = { ...(await guarded()), passkeys: '/admin/me/passkeys' }
    platform.clock.advance(10 * MINUTE)
    for (const [method, path, body] of [
      ['POST', `${passkeys}/options`],
      ['DELETE', `${passkeys}/psk_01kae5m1v8w6c3x9q2r7t4y0zn`],
      ['POST', `/admin/admins/${id}/keys`, { name: 'mine' }],
      ['GET', '/admin/export/developers'],
    ] as const)
      expect(codeOf(await call(method, path, token, body)), path).toEqual([403, 'confirmation_required'])
  })
})

describe('a reset password', () => {
  it('ends the keys and sessions that were opened with the old one', async () => {
    const { id, email } = await newAdmin()
    const stolen = await signIn(email)
    const made = await call('POST', `/admin/admins/${id}/keys`, stolen, { name: 'backdoor' })
    const backdoor = { 'x-admin-key': made.body.key as string }
    expect((await platform.call('GET', '/admin/me', { headers: backdoor })).status).toBe(200)
    const reset = { password: 'a password from the operator' }
    expect((await platform.call('PATCH', `/admin/admins/${id}`, { headers: KEY, body: reset })).status).toBe(200)
    expect((await platform.call('GET', '/admin/me', { headers: backdoor })).status).toBe(401)
    expect((await call('GET', '/admin/me', stolen)).status).toBe(401)
    expect((await platform.call('GET', `/admin/admins/${id}/keys`, { headers: KEY })).body.total).toBe(0)
  })

  it('leaves no key that is made at the same moment', async () => {
    const { id } = await newAdmin()
    const post = (name: string) => platform.call('POST', `/admin/admins/${id}/keys`, { headers: KEY, body: { name } })
    await post('before')
    const [, ...made] = await Promise.all([
      platform.call('PATCH', `/admin/admins/${id}`, { headers: KEY, body: { password: 'a new password for Mo' } }),
      ...Array.from({ length: 4 }, (_, n) => post(`race${n}`)),
    ])
    const listed = (await platform.call('GET', `/admin/admins/${id}/keys`, { headers: KEY })).body.items.map(
      (key: { id: string }) => key.id,
    )
    for (const { body } of made) {
      const works = await platform.call('GET', '/admin/me', { headers: { 'x-admin-key': body.key ?? 'none' } })
      // A key that was made after the reset works and is listed. No other key does either.
      expect(works.status === 200).toBe(listed.includes(body.id))
    }
    expect(listed.length).toBeLessThanOrEqual(4)
  })

  it('keeps keys at a change of one’s own password only if asked to', async () => {
    for (const keep_keys of [true, false]) {
      const { id, email } = await newAdmin()
      const token = await signIn(email)
      const { body } = await call('POST', `/admin/admins/${id}/keys`, token, { name: 'ci' })
      const change = { current_password: PASSWORD, new_password: 'a brand new password', keep_keys }
      expect((await call('POST', '/admin/me/password', token, change)).status).toBe(200)
      const used = await platform.call('GET', '/admin/me', { headers: { 'x-admin-key': body.key } })
      expect(used.status).toBe(keep_keys ? 200 : 401)
    }
  })
})

describe('a known password of an account with a passkey', () => {
  it('opens nothing, and neither adds nor removes a passkey, an hour of guesses included', async () => {
    const { stolen, id } = await guarded()
    for (const [method, path] of [
      ['GET', '/admin/overview'],
      ['GET', '/admin/me/passkeys'],
      ['GET', '/admin/me/sessions'],
      ['POST', '/admin/me/passkeys/options'],
      ['DELETE', `/admin/admins/${id}/passkeys`],
      ['POST', `/admin/admins/${id}/keys`],
    ] as const)
      expect(codeOf(await call(method, path, stolen)), path).toEqual([403, 'confirmation_required'])
    expect(codeOf(await call('POST', '/admin/me/confirm/password', stolen, { password: PASSWORD }))).toEqual([
      403,
      'forbidden',
    ])
    const mine = createAuthenticator()
    for (let n = 0; n < 5; n++)
      expect(codeOf(await confirm(stolen, mine.answer(await options(stolen))))).toEqual([403, 'forbidden'])
    expect(codeOf(await confirm(stolen, mine.answer(await options(stolen))))).toEqual([429, 'rate_limited'])
  })

  it('ends sessions from before the passkey was added until they present it', async () => {
    const { email } = await newAdmin()
    const [old, token] = [await signIn(email), await signIn(email)]
    const authenticator = createAuthenticator()
    await add(token, authenticator)
    expect(codeOf(await call('GET', '/admin/overview', old))).toEqual([403, 'confirmation_required'])
    expect((await confirm(old, authenticator.answer(await options(old)))).status).toBe(200)
    expect((await call('GET', '/admin/overview', old)).status).toBe(200)
  })
})

describe('a passkey’s answer', () => {
  it('is refused from another site, for another challenge, a second time, late, changed, or from a copy', async () => {
    const { email, authenticator, token } = await guarded()
    const phished = createAuthenticator({ origin: 'https://platform.test.evil.example' })
    expect(codeOf(await add(token, phished))).toEqual([422, 'validation_error'])

    const asked = await options(token)
    const other = await options(token)
    const answer = authenticator.answer(asked)
    expect((await confirm(token, { ...answer, challenge_id: other.challenge_id })).status).toBe(403)
    const { response } = answer.credential
    for (const name of ['signature', 'authenticatorData', 'clientDataJSON'] as const) {
      const bytes = Buffer.from(response[name], 'base64url')
      bytes[bytes.length - 5] = (bytes.at(-5) ?? 0) ^ 1
      const changed = { ...response, [name]: bytes.toString('base64url') }
      const body = { ...answer, credential: { ...answer.credential, response: changed } }
      expect((await confirm(token, body)).status, name).toBe(403)
    }
    expect((await confirm(token, answer)).status).toBe(200)
    platform.clock.advance(60 * MINUTE)
    expect((await confirm(token, answer)).status, 'a second time').toBe(403)
    const late = await options(token)
    platform.clock.advance(5 * MINUTE)
    expect((await confirm(token, authenticator.answer(late))).status, 'late').toBe(403)
    authenticator.rewind(0)
    expect((await confirm(token, authenticator.answer(await options(token)))).status, 'a copy').toBe(403)

    authenticator.rewind(100)
    const again = await signIn(email)
    const stranger = await guarded()
    const theirs = stranger.authenticator.answer(await options(again))
    expect((await confirm(again, theirs)).status, 'the passkey of another account').toBe(403)
    expect((await confirm(again, authenticator.answer(await options(stranger.token)))).status).toBe(403)
    expect((await confirm(again, authenticator.answer(await options(again)))).status).toBe(200)
  })

  it('counts once among 5 concurrent requests', async () => {
    const { authenticator, stolen } = await guarded()
    const answer = authenticator.answer(await options(stolen))
    const answers = await Promise.all(Array.from({ length: 5 }, () => confirm(stolen, answer)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  })
})
