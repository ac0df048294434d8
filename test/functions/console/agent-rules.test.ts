import { describe, expect, it } from 'vitest'
import { AuditEntity } from '#shared/staff/audit/entity.ts'
import { installed, member } from '#testkit/fixtures.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()

const put = (path: string, token: string, body: unknown) => platform.call('PUT', `/console${path}`, { token, body })

const auditOf = async (workspaceId: string) =>
  (await platform.deps.table.query(AuditEntity, { scope: workspaceId }, { limit: 50, ascending: true })).items

describe('PUT /console/installations/{id}/policy', () => {
  it('keeps the fields that are left out', async () => {
    const { installation, person, app } = await installed(platform.deps)
    const at = `/installations/${installation.id}/policy`
    const send = async (body: unknown) => {
      platform.clock.advance(1_000)
      const { status, body: now } = await put(at, person.token, body)
      expect(status).toBe(200)
      return [now.allowed_callers, now.denied_tools]
    }
    const callers = ['stock-helper', app.slug]
    expect(await send({ allowed_callers: ['stock-helper', installation.id, app.slug] })).toEqual([callers, []])
    expect(await send({ denied_tools: ['http_fetch', 'http_fetch'] })).toEqual([callers, ['http_fetch']])
    expect(await send({})).toEqual([callers, ['http_fetch']])
    expect(await send({ allowed_callers: [] })).toEqual([[], ['http_fetch']])
    expect(await send({ allowed_callers: null, denied_tools: [] })).toEqual([null, []])
    const { body } = await platform.call('GET', '/console/installations', { token: person.token })
    expect(body.items).toMatchObject([{ id: installation.id, allowed_callers: null, denied_tools: [] }])
  })

  it('audits the state before and after, unless nothing changed', async () => {
    const { installation, person, workspaceId } = await installed(platform.deps)
    const at = `/installations/${installation.id}/policy`
    await put(at, person.token, { allowed_callers: ['stock-helper'] })
    await put(at, person.token, { allowed_callers: ['stock-helper'] })
    expect(await auditOf(workspaceId)).toMatchObject([
      {
        action: 'installation.policy_changed',
        actor: { type: 'user', id: person.user.id },
        target: { type: 'installation', id: installation.id },
        details: {
          before: { allowed_callers: null, denied_tools: [] },
          after: { allowed_callers: ['stock-helper'], denied_tools: [] },
        },
      },
    ])
  })

  it.each([
    [{ denied_tools: ['rm_rf'] }],
    [{ denied_tools: null }],
    [{ denied_tools: 'http_fetch' }],
    [{ allowed_callers: 'stock-helper' }],
    [{ allowed_callers: [''] }],
    [{ allowed_callers: ['Not A Slug'] }],
    [{ allowed_callers: ['ins_short'] }],
    [{ allowed_callers: [null] }],
    [{ allowed_callers: Array.from({ length: 201 }, (_, n) => `agent-${n}`) }],
    [{ callers: [] }],
  ])('refuses %j', async (body) => {
    const { installation, person } = await installed(platform.deps)
    const answer = await put(`/installations/${installation.id}/policy`, person.token, body)
    expect([answer.status, answer.body.error.code]).toEqual([422, 'validation_error'])
  })

  it('refuses ids of installations that the workspace never had', async () => {
    const [{ installation, person }, elsewhere] = [await installed(platform.deps), await installed(platform.deps)]
    const { status, body } = await put(`/installations/${installation.id}/policy`, person.token, {
      allowed_callers: [elsewhere.installation.id],
    })
    expect([status, body.error.code]).toEqual([422, 'validation_error'])
    expect(body.error.details.fields).toHaveProperty('allowed_callers')
  })

  it('keeps both changes when two owners change different fields concurrently', async () => {
    const { installation, person } = await installed(platform.deps)
    const at = `/installations/${installation.id}/policy`
    for (let round = 0; round < 5; round++) {
      platform.clock.advance(5_000)
      const caller = `agent-${round}`
      const denied = round % 2 ? [] : ['http_fetch']
      await Promise.all([
        put(at, person.token, { allowed_callers: [caller] }),
        put(at, person.token, { denied_tools: denied }),
      ])
      const { body } = await put(at, person.token, {})
      expect([body.allowed_callers, body.denied_tools]).toEqual([[caller], denied])
    }
  })

  it('denies a tool to this installation only', async () => {
    const one = await installed(platform.deps)
    const other = await installed(platform.deps, { workspaceId: one.workspaceId })
    await put(`/installations/${one.installation.id}/policy`, one.person.token, { denied_tools: ['workspace_info'] })
    const invoke = (token: string) =>
      platform.call('POST', '/api/v1/tools/workspace_info/invoke', { token, body: { arguments: {} } })
    expect((await invoke(one.token)).body.error).toMatchObject({
      code: 'tool_denied',
      details: { reason: 'installation' },
    })
    expect((await invoke(other.token)).status).toBe(200)
  })
})

describe('PUT /console/settings/cross-agent', () => {
  it('turns calls between agents off and on, and audits both', async () => {
    const { token, person, workspaceId } = await installed(platform.deps)
    for (const enabled of [false, false, true]) {
      platform.clock.advance(1_000)
      const { status, body } = await put('/settings/cross-agent', person.token, { enabled })
      expect([status, body]).toEqual([200, { cross_agent_enabled: enabled, denied_tools: [], denied_scopes: [] }])
      const read = await platform.call('GET', '/api/v1/workspace', { token })
      expect(read.body.cross_agent_enabled).toBe(enabled)
    }
    expect((await auditOf(workspaceId)).map(({ action, details }) => [action, details])).toEqual([
      [
        'workspace.cross_agent_changed',
        { before: { cross_agent_enabled: true }, after: { cross_agent_enabled: false } },
      ],
      [
        'workspace.cross_agent_changed',
        { before: { cross_agent_enabled: false }, after: { cross_agent_enabled: true } },
      ],
    ])
  })
})

describe('PUT /console/settings/bans', () => {
  it('denies tools and scopes to every agent from the next request', async () => {
    const { token, person, workspaceId } = await installed(platform.deps)
    const { token: admin } = await member(platform.deps, workspaceId, 'admin')
    const bans = { denied_tools: ['workspace_info'], denied_scopes: ['runs:write'] }
    expect((await put('/settings/bans', admin, bans)).body).toEqual({ cross_agent_enabled: true, ...bans })
    expect((await platform.call('GET', '/console/me', { token: person.token })).body.bans).toEqual(bans)
    const tool = await platform.call('POST', '/api/v1/tools/workspace_info/invoke', { token, body: { arguments: {} } })
    expect(tool.body.error).toMatchObject({ code: 'tool_denied', details: { reason: 'organization' } })
    const run = await platform.call('POST', '/api/v1/runs', { token, body: {} })
    expect(run.body.error.code).toBe('scope_denied_by_admin')
    await put('/settings/bans', admin, { denied_tools: [], denied_scopes: [] })
    expect((await platform.call('POST', '/api/v1/runs', { token, body: {} })).status).toBe(201)
    expect((await auditOf(workspaceId)).map(({ action }) => action)).toEqual([
      'workspace.bans_changed',
      'workspace.bans_changed',
    ])
  })

  it.each([
    [{ denied_tools: ['rm_rf'], denied_scopes: [] }],
    [{ denied_tools: [], denied_scopes: ['everything'] }],
    [{ denied_tools: [] }],
    [{ denied_scopes: [] }],
  ])('refuses %j', async (body) => {
    const { person } = await installed(platform.deps)
    const answer = await put('/settings/bans', person.token, body)
    expect([answer.status, answer.body.error.code]).toEqual([422, 'validation_error'])
  })
})
