import { beforeEach, describe, expect, it } from 'vitest'
import { ClaimEntity } from '#shared/foundation/claims/entity.ts'
import { newId, stampOf } from '#shared/kernel/ids.ts'
import { newSecret, sha256 } from '#shared/kernel/secrets.ts'
import { AdminEntity, AdminKeyEntity } from '#shared/staff/admins/entity.ts'
import { hashPassword } from '#shared/staff/admins/password.ts'
import { AuditEntity } from '#shared/staff/audit/entity.ts'
import { startPlatform, type TestPlatform } from '#testkit/platform.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const LOCAL = { email: 'admin@example.com', password: 'local-admin-password' }

const platform = usingPlatform()
beforeEach(() => platform.clock.advance(3_600_000))

const signIn = (body: object, sourceIp = '203.0.113.1', on = platform) =>
  on.call('POST', '/admin/auth/login', { body, sourceIp })
const me = (headers: Record<string, string>, on = platform) => on.call('GET', '/admin/me', { headers })
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

const newAdmin = async (email: string, password: string) => {
  const now = platform.clock.now()
  const id = newId('admin', now)
  const password_hash = await hashPassword(password)
  const admin = {
    ...stampOf(id),
    email,
    name: 'Staff',
    role: 'moderator',
    session_version: 1,
    password_hash,
  } as const
  await platform.deps.table.transact([
    AdminEntity.create(admin),
    ClaimEntity.create({ kind: 'admin-email', value: email, owner_id: id }),
  ])
  return admin
}

describe('POST /admin/auth/login', () => {
  it('returns a token that is valid for 8 hours', async () => {
    const answer = await signIn(LOCAL)
    expect(answer.status).toBe(200)
    expect(answer.headers['cache-control']).toBe('no-store')
    expect(answer.body).toMatchObject({
      token: expect.stringMatching(/^eyJ/),
      token_type: 'Bearer',
      expires_in: 28_800,
      admin: { id: expect.stringMatching(/^adm_/), email: LOCAL.email, role: 'superadmin' },
    })
    expect(answer.text).not.toContain('password')
    platform.clock.advance(28_799_000)
    const { session, ...who } = (await me(bearer(answer.body.token))).body
    expect(who).toEqual({ ...answer.body.admin, key_name: null })
    expect(session).toMatchObject({ id: expect.stringMatching(/^ase_/), next_step: null, confirm_with: 'password' })
    platform.clock.advance(1_000)
    expect((await me(bearer(answer.body.token))).status).toBe(401)
  })

  it('ignores the case of the email address', async () => {
    expect((await signIn({ ...LOCAL, email: ' Admin@Example.COM ' })).status).toBe(200)
  })

  it('answers an unknown address and a wrong password alike', async () => {
    const answers = [
      await signIn({ email: 'nobody@example.com', password: 'x' }),
      await signIn({ ...LOCAL, password: 'x' }),
    ]
    for (const { status, body } of answers) expect([status, body.error.code]).toEqual([401, 'unauthorized'])
    expect(answers[0]?.body.error.message).toBe(answers[1]?.body.error.message)
  })

  it('invalidates the token when the session version changes', async () => {
    const admin = await newAdmin('mod@example.com', 'secret of the moderator')
    const { token } = (await signIn({ email: admin.email, password: 'secret of the moderator' })).body
    expect((await me(bearer(token))).body.role).toBe('moderator')
    await platform.deps.table.transact([AdminEntity.update({ id: admin.id }, { add: { session_version: 1 } })])
    expect((await me(bearer(token))).status).toBe(401)
  })

  it('refuses even the right password after 5 failures from one address, for 3 minutes each', async () => {
    const admin = await newAdmin('slow@example.com', 'right')
    const attempt = (password: string) => signIn({ email: admin.email, password }, '203.0.113.77')
    for (let n = 0; n < 5; n++) expect((await attempt('wrong')).status).toBe(401)
    const refused = await attempt('right')
    expect([refused.status, refused.body.error.code]).toEqual([429, 'rate_limited'])
    const wait = Number(refused.headers['retry-after'])
    expect(wait).toBeGreaterThan(170)
    expect(wait).toBeLessThanOrEqual(180)
    platform.clock.advance(wait * 1_000)
    expect((await attempt('right')).status).toBe(200)
  })

  it('refuses every account from an IP address after 5 failures there, and no account elsewhere', async () => {
    const ip = '2001:db8:1:2::'
    for (let n = 0; n < 5; n++)
      expect((await signIn({ email: `x${n}@example.com`, password: 'x' }, `${ip}${n}`)).status).toBe(401)
    expect((await signIn(LOCAL, `${ip}ffff`)).status).toBe(429)
    expect((await signIn(LOCAL, '198.51.100.9')).status).toBe(200)
  })

  it('checks only 5 of 20 concurrent guesses', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => signIn({ email: `race${n}@example.com`, password: 'x' }, '192.0.2.8')),
    )
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(5)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(15)
  })

  it('does not count successful sign-ins', async () => {
    for (let n = 0; n < 8; n++) expect((await signIn(LOCAL, '198.51.100.77')).status).toBe(200)
  })

  it('counts by the caller’s address that the edge reports, and audits that address', async () => {
    const edged = await startPlatform({ EDGE: 'true' })
    const from = (address: string, body: object) =>
      edged.call('POST', '/admin/auth/login', {
        body,
        // One of the edge's own addresses, shared by all callers.
        sourceIp: '130.176.0.1',
        headers: { 'x-viewer-address': address, 'x-forwarded-for': '192.0.2.99' },
      })
    for (let n = 0; n < 5; n++)
      expect((await from('192.0.2.1', { email: `x${n}@example.com`, password: 'x' })).status).toBe(401)
    expect((await from('192.0.2.1', LOCAL)).status).toBe(429)
    expect((await from('192.0.2.2', LOCAL)).status).toBe(200)
    const signedIn = async (on: TestPlatform) => {
      const { items } = await on.deps.table.query(AuditEntity, { scope: 'platform' }, { limit: 50 })
      return items.filter(({ action }) => action === 'admin.signed_in').map(({ source_ip }) => source_ip)
    }
    expect(await signedIn(edged)).toEqual(['192.0.2.2'])
    // Without the edge, the caller controls this header.
    const spoofed = { body: LOCAL, sourceIp: '198.51.100.5', headers: { 'x-viewer-address': '192.0.2.3' } }
    expect((await platform.call('POST', '/admin/auth/login', spoofed)).status).toBe(200)
    const direct = await signedIn(platform)
    expect(direct).toContain('198.51.100.5')
    expect(direct).not.toContain('192.0.2.3')
    await edged.stop()
  })

  it('is audited', async () => {
    await signIn(LOCAL)
    const { items } = await platform.deps.table.query(AuditEntity, { scope: 'platform' }, { limit: 1 })
    expect(items[0]).toMatchObject({ action: 'admin.signed_in', source_ip: '203.0.113.1' })
  })
})

describe('X-Admin-Key', () => {
  it('accepts the local key and resolves its name', async () => {
    expect((await me({ 'x-admin-key': 'local-admin-key' })).body).toMatchObject({
      role: 'superadmin',
      key_name: 'local',
    })
  })

  it('refuses a key that expired or whose admin was deleted', async () => {
    const admin = await newAdmin('keys@example.com', 'x')
    const key = newSecret('adk_')
    const expires_at = platform.clock.now() + 60_000
    await platform.deps.table.transact([
      AdminKeyEntity.create({ key_hash: sha256(key), admin_id: admin.id, name: 'ci', created_at: 0, expires_at }),
    ])
    expect((await me({ 'x-admin-key': key })).body).toMatchObject({ id: admin.id, key_name: 'ci' })
    platform.clock.advance(59_999)
    expect((await me({ 'x-admin-key': key })).status).toBe(200)
    platform.clock.advance(1)
    expect((await me({ 'x-admin-key': key })).status).toBe(401)
  })

  it('creates one admin for 20 concurrent first calls', async () => {
    const fresh = await startPlatform()
    try {
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => me({ 'x-admin-key': 'local-admin-key' }, fresh)),
      )
      expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200))
      expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1)
      expect((await signIn(LOCAL, '203.0.113.1', fresh)).status).toBe(200)
    } finally {
      await fresh.stop()
    }
  })

  it('accepts neither the local key nor the local admin when the setting is off', async () => {
    const closed = await startPlatform({ LOCAL_ADMIN: 'false' })
    try {
      expect((await me({ 'x-admin-key': 'local-admin-key' }, closed)).status).toBe(401)
      expect((await signIn(LOCAL, '203.0.113.1', closed)).status).toBe(401)
    } finally {
      await closed.stop()
    }
  })
})
