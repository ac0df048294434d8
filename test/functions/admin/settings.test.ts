import { describe, expect, it } from 'vitest'
import { issueToken } from '#shared/domain/tokens/tokens.ts'
import { AdminEntity, AuditEntity } from '#shared/entities/platform.ts'
import { newId } from '#shared/kernel/ids.ts'
import { installed } from '#test/support/fixtures.ts'
import { usingPlatform } from '#test/support/using-platform.ts'

const platform = usingPlatform()
const SUPER = { headers: { 'x-admin-key': 'local-admin-key' } }

const put = (path: string, body: unknown, options = SUPER) => {
  // The audit is in the order of time.
  platform.clock.advance(1_000)
  return platform.call('PUT', `/admin/settings/${path}`, { ...options, body })
}

const moderator = async () => {
  await platform.call('GET', '/admin/me', SUPER)
  const now = platform.clock.now()
  const admin = {
    id: newId('admin', now),
    email: 'moderator@example.com',
    name: 'Mo',
    role: 'moderator' as const,
    password_hash: '',
    session_version: 1,
    created_at: now,
  }
  await platform.deps.table.transact([AdminEntity.create(admin)])
  const { token } = await issueToken(platform.deps, 'admin', { adm: admin.id, sv: 1 })
  return { headers: { authorization: `Bearer ${token}` } } as unknown as typeof SUPER
}

const audited = async (action: string) =>
  (await platform.deps.table.query(AuditEntity, { scope: 'platform' }, { limit: 100, ascending: true })).items
    .filter((entry) => entry.action === action)
    .map(({ details }) => ({ before: details.before, after: details.after }))

describe('the platform’s settings', () => {
  it('are read by moderators and changed by superadmins only', async () => {
    const options = await moderator()
    const { status, body } = await platform.call('GET', '/admin/settings', options)
    expect([status, body]).toEqual([
      200,
      { denied_tools: [], pm_identity: { name: 'Orchestrator', logo_url: null, policy: null } },
    ])
    for (const [path, change] of [
      ['denied-tools', { denied_tools: ['http_fetch'] }],
      ['pm-identity', { name: 'Mo' }],
    ] as const) {
      const answer = await put(path, change, options)
      expect([answer.status, answer.body.error.code]).toEqual([403, 'admin_required'])
    }
  })

  it('ban a tool for everybody from the next call on, and lift the ban as fast', async () => {
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

  it('say as whom the orchestrator speaks; what is not given is taken away', async () => {
    const full = { name: 'Ada', logo_url: 'https://example.com/ada.png', policy: 'Be brief.' }
    expect((await put('pm-identity', full)).body.pm_identity).toEqual(full)
    const bare = { name: 'Ada', logo_url: null, policy: null }
    expect((await put('pm-identity', { name: 'Ada' })).body.pm_identity).toEqual(bare)
    expect((await platform.call('GET', '/admin/settings', SUPER)).body.pm_identity).toEqual(bare)
    const usual = { name: 'Orchestrator', logo_url: null, policy: null }
    expect(await audited('platform.pm_identity_changed')).toEqual([
      { before: usual, after: full },
      { before: full, after: bare },
    ])
    const inside = await put('pm-identity', { name: 'Ada', logo_url: 'https://10.0.0.1/logo.png' })
    expect([inside.status, inside.body.error.code]).toEqual([422, 'blocked_target'])
  })
})
