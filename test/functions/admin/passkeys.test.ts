import { beforeEach, describe, expect, it } from 'vitest'
import { AuditEntity } from '#shared/staff/audit/entity.ts'
import { createAuthenticator, type TestAuthenticator } from '#testkit/passkeys.ts'
import type { Answer, TestPlatform } from '#testkit/platform.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const MINUTE = 60_000
const KEY = { 'x-admin-key': 'local-admin-key' }
const PASSWORD = 'correct horse battery staple'

let people = 0

const staffOn = (platform: TestPlatform) => {
  const call = (method: string, path: string, token?: string, body?: unknown): Promise<Answer> => {
    platform.clock.advance(100)
    return platform.call(method, path, {
      ...(token === undefined ? { headers: KEY } : { token }),
      body,
    })
  }
  const signIn = async (email: string, password = PASSWORD) => {
    platform.clock.advance(100)
    return (await platform.call('POST', '/admin/auth/login', { body: { email, password } })).body
  }
  const newAdmin = async (role: 'superadmin' | 'moderator' = 'superadmin') => {
    const email = `passkey${++people}@example.com`
    const { body } = await call('POST', '/admin/admins', undefined, { email, name: 'Mo', role, password: PASSWORD })
    return { id: body.id as string, email }
  }
  const add = async (token: string, authenticator: TestAuthenticator, name = 'Laptop') => {
    const { body: asked } = await call('POST', '/admin/me/passkeys/options', token)
    return call('POST', '/admin/me/passkeys', token, { name, ...authenticator.create(asked) })
  }
  const confirm = async (token: string, authenticator: TestAuthenticator) => {
    const { body: asked } = await call('POST', '/admin/me/confirm/passkey/options', token)
    return call('POST', '/admin/me/confirm/passkey', token, authenticator.answer(asked))
  }
  /** Creates an admin who has a passkey and is signed in with it. */
  const withPasskey = async (role: 'superadmin' | 'moderator' = 'superadmin') => {
    const admin = await newAdmin(role)
    const { token } = await signIn(admin.email)
    const authenticator = createAuthenticator()
    const added = await add(token, authenticator)
    expect(added.status, added.text).toBe(201)
    return { ...admin, token: token as string, authenticator, passkeyId: added.body.id as string }
  }
  return { call, signIn, newAdmin, add, confirm, withPasskey }
}

const codeOf = ({ status, body }: Answer) => [status, body?.error?.code]

const platform = usingPlatform({ STAFF_SECOND_FACTOR: 'superadmins' })
const { call, signIn, newAdmin, add, confirm, withPasskey } = staffOn(platform)
beforeEach(() => platform.clock.advance(60 * MINUTE))

const audited = async () => (await platform.deps.table.query(AuditEntity, { scope: 'platform' }, { limit: 5 })).items

describe('a superadmin who must have a passkey', () => {
  it('can only add one after signing in with the password, and then has full access', async () => {
    const { email } = await newAdmin()
    const session = await signIn(email)
    expect(session.next_step).toBe('add_passkey')
    for (const [method, path] of [
      ['GET', '/admin/admins'],
      ['GET', '/admin/audit'],
      ['GET', '/admin/me/sessions'],
      ['GET', '/admin/me/passkeys'],
    ] as const)
      expect(codeOf(await call(method, path, session.token)), path).toEqual([403, 'passkey_required'])
    expect((await call('GET', '/admin/me', session.token)).body.session.next_step).toBe('add_passkey')
    expect((await add(session.token, createAuthenticator())).status).toBe(201)
    expect((await call('GET', '/admin/me', session.token)).body.session).toMatchObject({
      next_step: null,
      confirm_with: 'passkey',
    })
    expect((await call('GET', '/admin/admins', session.token)).status).toBe(200)
    expect((await call('GET', '/admin/me/passkeys', session.token)).body.items).toMatchObject([
      { name: 'Laptop', last_used_at: null },
    ])
  })

  it('can’t remove the last passkey, but can replace it', async () => {
    const { token, passkeyId } = await withPasskey()
    expect(codeOf(await call('DELETE', `/admin/me/passkeys/${passkeyId}`, token))).toEqual([409, 'conflict'])
    expect((await add(token, createAuthenticator(), 'Phone')).status).toBe(201)
    expect((await call('DELETE', `/admin/me/passkeys/${passkeyId}`, token)).status).toBe(204)
    expect((await call('GET', '/admin/me/passkeys', token)).body).toMatchObject({
      total: 1,
      items: [{ name: 'Phone' }],
    })
  })

  it('needs none for an admin key', async () => {
    const { id } = await newAdmin()
    const { body } = await call('POST', `/admin/admins/${id}/keys`, undefined, { name: 'ci' })
    const headers = { 'x-admin-key': body.key as string }
    platform.clock.advance(60 * MINUTE)
    expect((await platform.call('GET', '/admin/admins', { headers })).status).toBe(200)
    expect((await platform.call('GET', '/admin/export/apps', { headers })).status).toBe(200)
    const more = await platform.call('POST', `/admin/admins/${id}/keys`, { headers, body: { name: 'cd' } })
    expect(more.status).toBe(201)
  })
})

describe('signing in to an account with a passkey', () => {
  it('takes the password and the passkey, and is audited when both are given', async () => {
    const { email, authenticator } = await withPasskey('moderator')
    const session = await signIn(email)
    expect(session.next_step).toBe('confirm')
    expect((await audited())[0]?.action).toBe('admin.password_accepted')
    expect(codeOf(await call('GET', '/admin/overview', session.token))).toEqual([403, 'confirmation_required'])
    expect((await confirm(session.token, authenticator)).status).toBe(200)
    expect((await audited())[0]?.action).toBe('admin.signed_in')
    expect((await call('GET', '/admin/overview', session.token)).status).toBe(200)
    platform.clock.advance(7 * 60 * MINUTE)
    expect((await call('GET', '/admin/overview', session.token)).status).toBe(200)
  })

  it('must be completed within 10 minutes', async () => {
    const { email, authenticator } = await withPasskey('moderator')
    const { token } = await signIn(email)
    const { body: asked } = await call('POST', '/admin/me/confirm/passkey/options', token)
    platform.clock.advance(10 * MINUTE)
    expect((await call('POST', '/admin/me/confirm/passkey', token, authenticator.answer(asked))).status).toBe(401)
  })

  it('accepts a second factor that doesn’t check a PIN or fingerprint', async () => {
    const { email } = await newAdmin('moderator')
    const { token } = await signIn(email)
    const securityKey = createAuthenticator({ verifiesUser: false })
    expect((await add(token, securityKey)).status).toBe(201)
    const again = await signIn(email)
    expect((await confirm(again.token, securityKey)).status).toBe(200)
  })
})

describe('a confirmation', () => {
  const sensitive = (id: string): [method: string, path: string, body?: object][] => [
    ['POST', `/admin/admins/${id}/keys`, { name: 'ci' }],
    ['GET', '/admin/export/apps'],
    ['POST', '/admin/apps/app_01kae5m1v8w6c3x9q2r7t4y0zn/suspend', { reason: 'Spam.' }],
    ['PUT', '/admin/settings/denied-tools', { denied_tools: [] }],
    ['POST', '/admin/admins', { email: `new${id}@example.com`, name: 'New', role: 'superadmin', password: PASSWORD }],
    ['PATCH', `/admin/admins/${id}`, { name: 'New name' }],
  ]

  it('is asked for again after 10 minutes by keys, exports, the kill switch and changes of accounts', async () => {
    const { id, token, authenticator } = await withPasskey()
    platform.clock.advance(10 * MINUTE)
    for (const [method, path, body] of sensitive(id)) {
      const refused = await call(method, path, token, body)
      expect(codeOf(refused), path).toEqual([403, 'confirmation_required'])
      expect(refused.body.error.details).toEqual({ confirm_with: 'passkey' })
    }
    expect((await call('GET', '/admin/audit', token)).status).toBe(200)
    expect((await confirm(token, authenticator)).status).toBe(200)
    for (const [method, path, body] of sensitive(id)) {
      expect((await call(method, path, token, body)).body?.error?.code, path).not.toBe('confirmation_required')
    }
  })

  it('takes the password of an account without a passkey, and only of such an account', async () => {
    const { email } = await newAdmin('moderator')
    const { token } = await signIn(email)
    platform.clock.advance(10 * MINUTE)
    const refused = await call('GET', '/admin/export/apps', token)
    expect(refused.body.error).toMatchObject({ code: 'confirmation_required', details: { confirm_with: 'password' } })
    const path = '/admin/me/confirm/password'
    expect(codeOf(await call('POST', path, token, { password: 'wrong' }))).toEqual([403, 'forbidden'])
    expect((await call('POST', path, token, { password: PASSWORD })).status).toBe(200)
    expect((await call('GET', '/admin/export/apps', token)).status).toBe(200)
    const { token: another } = await withPasskey('moderator')
    expect(codeOf(await call('POST', path, another, { password: PASSWORD }))).toEqual([403, 'forbidden'])
  })

  it('isn’t renewed by a new password', async () => {
    const { token } = await withPasskey()
    platform.clock.advance(10 * MINUTE)
    const change = { current_password: PASSWORD, new_password: 'another good password' }
    const { body } = await call('POST', '/admin/me/password', token, change)
    expect((await call('GET', '/admin/audit', body.token)).status).toBe(200)
    expect(codeOf(await call('GET', '/admin/export/apps', body.token))).toEqual([403, 'confirmation_required'])
  })
})

describe('lost passkeys', () => {
  it('are removed by another superadmin, which ends the sessions and asks for a new passkey', async () => {
    const helper = await withPasskey()
    const { id, email, token, authenticator } = await withPasskey()
    const pending = await signIn(email)
    expect((await call('DELETE', `/admin/admins/${id}/passkeys`, helper.token)).status).toBe(204)
    expect((await audited())[0]).toMatchObject({ action: 'admin.passkeys_reset', target: { id } })
    for (const ended of [token, pending.token]) expect((await call('GET', '/admin/me', ended)).status).toBe(401)
    const again = await signIn(email)
    expect(again.next_step).toBe('add_passkey')
    expect((await add(again.token, authenticator)).status).toBe(201)
    expect(codeOf(await call('DELETE', `/admin/admins/${id}/passkeys`, again.token))).toEqual([403, 'forbidden'])
  })
})

describe('passkeys', () => {
  it('are limited to 10 per account, and go with the account', async () => {
    const { id, token } = await withPasskey()
    for (let n = 1; n < 10; n++) expect((await add(token, createAuthenticator(), `Key ${n}`)).status).toBe(201)
    expect(codeOf(await call('POST', '/admin/me/passkeys/options', token))).toEqual([409, 'conflict'])
    expect((await call('DELETE', `/admin/admins/${id}`)).status).toBe(204)
    const left = await platform.deps.table.query(
      (await import('#shared/foundation/passkeys/entity.ts')).PasskeyEntity,
      { owner_id: id },
      { limit: 20 },
    )
    expect(left.items).toEqual([])
  })
})
