import { describe, expect, it } from 'vitest'
import { newId, stampOf } from '#shared/kernel/ids.ts'
import { AdminEntity } from '#shared/staff/admins/entity.ts'
import { AuditEntity } from '#shared/staff/audit/entity.ts'
import { adminToken, installed } from '#testkit/fixtures.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()
const SUPER = { headers: { 'x-admin-key': 'local-admin-key' } }

const put = (path: string, body: unknown, options = SUPER) => {
  // Audit entries are sorted by time.
  platform.clock.advance(1_000)
  return platform.call('PUT', `/admin/settings/${path}`, { ...options, body })
}

const moderator = async () => {
  await platform.call('GET', '/admin/me', SUPER)
  const now = platform.clock.now()
  const admin = {
    ...stampOf(newId('admin', now)),
    email: 'moderator@example.com',
    name: 'Mo',
    role: 'moderator' as const,
    password_hash: '',
    session_version: 1,
  }
  await platform.deps.table.transact([AdminEntity.create(admin)])
  const token = await adminToken(platform.deps, admin.id)
  return { headers: { authorization: `Bearer ${token}` } } as unknown as typeof SUPER
}

const AVATAR = expect.stringMatching(/^\/console\/logos\/avatar-/)

const audited = async (action: string) =>
  (await platform.deps.table.query(AuditEntity, { scope: 'platform' }, { limit: 100, ascending: true })).items
    .filter((entry) => entry.action === action)
    .map(({ details }) => ({ before: details.before, after: details.after }))

describe('the platform’s settings', () => {
  it('can be read by moderators', async () => {
    const options = await moderator()
    const { status, body } = await platform.call('GET', '/admin/settings', options)
    expect([status, body]).toEqual([
      200,
      {
        denied_tools: [],
        pm_identity: { name: 'Orchestrator', logo: null, logo_url: null, logo_path: AVATAR, policy: null },
      },
    ])
  })

  it('ban a tool on the whole platform from the next call, and lift the ban as quickly', async () => {
    const { token } = await installed(platform.deps)
    const invoke = async () => {
      const { status, body } = await platform.call('POST', '/api/v1/tools/workspace_info/invoke', { token, body: {} })
      return [status, body.error?.code ?? body.status, body.error?.details.reason]
    }
    expect(await invoke()).toEqual([200, 'ok', undefined])
    const { body } = await put('denied-tools', { denied_tools: ['workspace_info', 'workspace_info'] })
    expect(body.denied_tools).toEqual(['workspace_info'])
    expect(await invoke()).toEqual([403, 'tool_denied', 'platform'])
    await put('denied-tools', { denied_tools: ['workspace_info'] })
    await put('denied-tools', { denied_tools: [] })
    expect(await invoke()).toEqual([200, 'ok', undefined])
    expect(await audited('platform.denied_tools_changed')).toEqual([
      { before: [], after: ['workspace_info'] },
      { before: ['workspace_info'], after: [] },
    ])
    const unknown = await put('denied-tools', { denied_tools: ['no_such_tool'] })
    expect([unknown.status, unknown.body.error.code]).toEqual([422, 'validation_error'])
  })

  it('set the identity that the orchestrator speaks as, and clear the fields that are left out', async () => {
    const logo = 'https://example.com/ada.png'
    const full = { name: 'Ada', logo, logo_url: logo, logo_path: AVATAR, policy: 'Be brief.' }
    expect((await put('pm-identity', { name: 'Ada', logo, policy: 'Be brief.' })).body.pm_identity).toEqual(full)
    const older = await put('pm-identity', { name: 'Ada', logo_url: logo, policy: 'Be brief.' })
    expect(older.body.pm_identity).toEqual(full)
    const two = await put('pm-identity', { name: 'Ada', logo, logo_url: 'https://example.com/other.png' })
    expect([two.status, Object.keys(two.body.error.details.fields)]).toEqual([422, ['logo_url']])
    const bare = { name: 'Ada', logo: null, logo_url: null, logo_path: AVATAR, policy: null }
    expect((await put('pm-identity', { name: 'Ada' })).body.pm_identity).toEqual(bare)
    expect((await platform.call('GET', '/admin/settings', SUPER)).body.pm_identity).toEqual(bare)
    const usual = { name: 'Orchestrator', logo: null, logo_url: null, logo_path: AVATAR, policy: null }
    expect(await audited('platform.pm_identity_changed')).toEqual([
      { before: usual, after: full },
      { before: full, after: bare },
    ])
    const inside = await put('pm-identity', { name: 'Ada', logo_url: 'https://10.0.0.1/logo.png' })
    expect([inside.status, inside.body.error.code]).toEqual([422, 'blocked_target'])
    const named = await put('pm-identity', { name: 'Ada', logo: 'https://10.0.0.1/logo.png' })
    expect([named.status, Object.keys(named.body.error.details.fields)]).toEqual([422, ['logo']])
  })
})
