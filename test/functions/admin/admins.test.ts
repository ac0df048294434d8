import type * as crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { AuditEntity } from '#shared/staff/audit/entity.ts'
import { succeeded } from '#testkit/platform.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()
const LOCAL = { 'x-admin-key': 'local-admin-key' }
const PASSWORD = 'correct horse battery staple'

beforeEach(() => platform.clock.advance(3_600_000))

const call = (method: string, path: string, body?: unknown, headers: Record<string, string> = LOCAL) => {
  platform.clock.advance(1_000)
  return platform.call(method, path, { headers, body })
}
const signIn = (email: string, password = PASSWORD) =>
  platform.call('POST', '/admin/auth/login', { body: { email, password }, sourceIp: '203.0.113.5' })
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const me = (headers: Record<string, string>) => platform.call('GET', '/admin/me', { headers })

let n = 0
const staff = async (role: 'superadmin' | 'moderator' = 'moderator') => {
  const email = `mo${n++}@example.com`
  const admin = await succeeded(call('POST', '/admin/admins', { email, name: 'Mo', role, password: PASSWORD }))
  return { ...(admin as { id: string; email: string }), token: (await signIn(email)).body.token as string }
}
const audited = async (limit = 1) =>
  (await platform.deps.table.query(AuditEntity, { scope: 'platform' }, { limit })).items

describe('admin accounts', () => {
  it('can be created, listed, changed and deleted, and no response or audit entry shows a password', async () => {
    const before = (await call('GET', '/admin/admins')).body.total
    const { id, email } = await staff()
    const list = await call('GET', '/admin/admins')
    expect(list.body).toMatchObject({ total: before + 1, items: [{ id, email, role: 'moderator' }, {}] })
    const edited = await call('PATCH', `/admin/admins/${id}`, { name: 'Maud', password: 'another good password' })
    expect(edited.body).toMatchObject({ id, name: 'Maud' })
    expect((await audited())[0]).toMatchObject({
      action: 'admin.edited',
      target: { type: 'admin', id },
      details: { before: { name: 'Mo' }, after: { name: 'Maud' }, password_changed: true, key_name: 'local' },
    })
    expect((await call('DELETE', `/admin/admins/${id}`)).status).toBe(204)
    expect((await call('GET', '/admin/admins')).body.total).toBe(before)
    expect((await call('DELETE', `/admin/admins/${id}`)).status).toBe(404)
    const exposed = JSON.stringify([list.text, edited.text, await audited(20)])
    for (const secret of [PASSWORD, 'another good password', 'argon2id$', 'password_hash'])
      expect(exposed).not.toContain(secret)
  })

  it('accept an email address once, ignoring case, even among 10 concurrent requests', async () => {
    const make = (email: string) =>
      call('POST', '/admin/admins', { email, name: 'Mo', role: 'moderator', password: PASSWORD })
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, i) => make(i % 2 ? 'Twin@Example.com' : 'twin@example.com')),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(9).fill(409)])
    const { id } = await staff()
    expect((await call('PATCH', `/admin/admins/${id}`, { email: 'TWIN@example.com' })).body.error.code).toBe('conflict')
    expect((await call('PATCH', `/admin/admins/${id}`, { email: `new-${id}@example.com` })).status).toBe(200)
  })

  it('lose access at the next request after a demotion, a deletion or a new password', async () => {
    for (const end of [
      (id: string) => call('PATCH', `/admin/admins/${id}`, { role: 'moderator' }),
      (id: string) => call('PATCH', `/admin/admins/${id}`, { password: 'yet another password' }),
      (id: string) => call('DELETE', `/admin/admins/${id}`),
    ]) {
      const { id, token } = await staff('superadmin')
      expect((await me(bearer(token))).status).toBe(200)
      expect((await end(id)).status).toBeLessThan(300)
      expect((await me(bearer(token))).status).toBe(401)
    }
  })

  it('always include one superadmin, even when all are deleted or demoted concurrently', async () => {
    const others: Awaited<ReturnType<typeof staff>>[] = []
    // One after the other: concurrent sign-ins share an address's five attempts until each has succeeded.
    for (let i = 0; i < 6; i++) others.push(await staff('superadmin'))
    const { body } = await me(LOCAL)
    const all = [...others.map(({ id }) => id), body.id as string]
    const known = (await call('GET', '/admin/admins?limit=100')).body.items as { id: string; role: string }[]
    for (const { id, role } of known) {
      if (role === 'superadmin' && !all.includes(id)) await call('DELETE', `/admin/admins/${id}`)
    }
    const answers = await Promise.all(
      all.map((id, i) =>
        i % 2 ? call('DELETE', `/admin/admins/${id}`) : call('PATCH', `/admin/admins/${id}`, { role: 'moderator' }),
      ),
    )
    const left: string[] = []
    for (const { id, token } of others) {
      const { body: who } = await me(bearer(token))
      if (who.role === 'superadmin') left.push(id)
    }
    const local = (await me(LOCAL)).body
    if (local.role === 'superadmin') left.push(local.id)
    expect(left).toHaveLength(1)
    expect(answers.some(({ status }) => status >= 400)).toBe(true)
    // The remaining admin recreates the others for the tests that follow.
    const survivor = others.find(({ id }) => id === left[0])
    if (survivor) await call('PATCH', `/admin/admins/${local.id}`, { role: 'superadmin' }, bearer(survivor.token))
  })
})

describe('admin keys', () => {
  it('are shown once, have the account’s role, appear in the audit, and stop working when rotated or deleted', async () => {
    const { id } = await staff('superadmin')
    const keys = `/admin/admins/${id}/keys`
    const made = await call('POST', keys, { name: 'ci', expires_in_days: 1 })
    expect([made.status, made.headers['cache-control']]).toEqual([201, 'no-store'])
    const { key, ...shown } = made.body
    expect(key).toMatch(/^adk_[\w-]{43}$/)
    expect((await call('GET', keys)).body).toMatchObject({ items: [shown], total: 1 })
    expect((await call('GET', keys)).text).not.toContain(key)
    expect((await me({ 'x-admin-key': key })).body).toMatchObject({ id, key_name: 'ci', role: 'superadmin' })

    const { id: other } = await staff()
    await call('PATCH', `/admin/admins/${other}`, { name: 'By key' }, { 'x-admin-key': key })
    expect((await audited())[0]).toMatchObject({ actor: { type: 'admin', id }, details: { key_name: 'ci' } })

    const rotated = await call('POST', `${keys}/${shown.id}/rotate`, { expires_in_days: 2 })
    expect(rotated.body).toMatchObject({ id: shown.id, name: 'ci' })
    expect((await me({ 'x-admin-key': key })).status).toBe(401)
    const fresh = { 'x-admin-key': rotated.body.key as string }
    expect((await me(fresh)).status).toBe(200)
    await call('PATCH', `/admin/admins/${id}`, { role: 'moderator' })
    expect((await me(fresh)).body.role).toBe('moderator')
    expect((await call('GET', '/admin/admins', undefined, fresh)).body.error.code).toBe('admin_required')
    expect((await call('DELETE', `${keys}/${shown.id}`)).status).toBe(204)
    expect((await me(fresh)).status).toBe(401)
    expect(JSON.stringify(await audited(20))).not.toMatch(/adk_/)
  })

  it('expire, end with their account, and are not_found for another account', async () => {
    const { id } = await staff()
    const another = await staff()
    const { body } = await call('POST', `/admin/admins/${id}/keys`, { name: 'ci', expires_in_days: 1 })
    const second = await call('POST', `/admin/admins/${id}/keys`, { name: 'cd', expires_in_days: 30 })
    expect((await call('DELETE', `/admin/admins/${another.id}/keys/${body.id}`)).status).toBe(404)
    platform.clock.advance(86_400_000)
    expect((await me({ 'x-admin-key': body.key })).status).toBe(401)
    expect((await me({ 'x-admin-key': second.body.key })).status).toBe(200)
    await call('DELETE', `/admin/admins/${id}`)
    expect((await me({ 'x-admin-key': second.body.key })).status).toBe(401)
  })

  it('are limited to exactly 20 per account, not counting expired ones', async () => {
    const { id } = await staff()
    const make = () => call('POST', `/admin/admins/${id}/keys`, { name: 'ci', expires_in_days: 1 })
    const made: number[] = []
    for (let i = 0; i < 3; i++)
      made.push(...(await Promise.all(Array.from({ length: 8 }, make))).map(({ status }) => status))
    expect(made.filter((status) => status === 201)).toHaveLength(20)
    platform.clock.advance(2 * 86_400_000)
    expect((await make()).status).toBe(201)
    expect((await call('GET', `/admin/admins/${id}/keys`)).body.total).toBe(1)
  })
})

describe('signing in', () => {
  it('hashes one password whether or not the account exists', async () => {
    const { email } = await staff()
    const mutable = (await import('node:crypto')).default as unknown as {
      argon2: typeof crypto.argon2
      scrypt: unknown
    }
    const argon2 = vi.spyOn(mutable, 'argon2')
    syncBuiltinESMExports()
    try {
      for (const [who, password, status] of [
        [email, PASSWORD, 200],
        [email, 'wrong', 401],
        ['nobody@example.com', 'wrong', 401],
      ] as const) {
        argon2.mockClear()
        expect((await signIn(who, password)).status).toBe(status)
        const parameters = argon2.mock.calls.map(([algorithm, { message: _m, nonce: _n, ...rest }]) => [
          algorithm,
          rest,
        ])
        expect(parameters, who).toEqual([['argon2id', { memory: 19_456, passes: 2, parallelism: 1, tagLength: 32 }]])
      }
    } finally {
      argon2.mockRestore()
      syncBuiltinESMExports()
    }
  })

  it('audits a failure without the password, and without an address that is unknown', async () => {
    const { id, email } = await staff()
    platform.clock.advance(1_000)
    await signIn(email, 'a wrong password')
    expect((await audited())[0]).toMatchObject({
      action: 'admin.sign_in_failed',
      target: { type: 'admin', id },
      source_ip: '203.0.113.5',
    })
    platform.clock.advance(1_000)
    await signIn('typo@example.com', 'a wrong password')
    const [unknown] = await audited()
    expect(unknown).toMatchObject({ action: 'admin.sign_in_failed', target: { type: 'system', id: 'sign-in' } })
    expect(JSON.stringify(await audited(5))).not.toMatch(/a wrong password|typo@/)
  })
})

describe('POST /admin/me/password', () => {
  it('ends every session except the one it returns, and counts wrong guesses', async () => {
    const { id, email, token } = await staff()
    const change = (current_password: string, headers = bearer(token)) =>
      call('POST', '/admin/me/password', { current_password, new_password: 'a brand new password' }, headers)
    platform.clock.advance(1_000)
    expect((await change('wrong')).body.error.code).toBe('forbidden')
    expect((await audited())[0]).toMatchObject({ action: 'admin.sign_in_failed', target: { type: 'admin', id } })
    const changed = await change(PASSWORD)
    expect(changed.status).toBe(200)
    expect((await me(bearer(token))).status).toBe(401)
    expect((await me(bearer(changed.body.token))).status).toBe(200)
    expect((await signIn(email)).status).toBe(401)
    expect((await signIn(email, 'a brand new password')).status).toBe(200)
    for (let i = 0; i < 8; i++) await change('wrong', bearer(changed.body.token))
    expect((await change('a brand new password', bearer(changed.body.token))).body.error.code).toBe('rate_limited')
  })
})
