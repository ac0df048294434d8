import { describe, expect, it } from 'vitest'
import { InstallationEntity } from '#shared/access/installations/entity.ts'
import { AppEntity } from '#shared/catalogue/apps/entity.ts'
import { VersionEntity } from '#shared/catalogue/versions/entity.ts'
import { WorkspaceEntity } from '#shared/identity/people/entity.ts'
import { installed, member } from '#testkit/fixtures.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()
const get = (token: string, path: string) => platform.call('GET', `/api/v1${path}`, { token })

describe('GET /api/v1/members', () => {
  it('lists the workspace’s members and no one else', async () => {
    const app = await installed(platform.deps)
    await installed(platform.deps)
    const other = await member(platform.deps, app.workspaceId, 'member')
    const { body } = await get(app.token, '/members')
    expect(body.items).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ id: app.person.user.id, role: 'owner' }),
        expect.objectContaining({ id: other.user.id, role: 'member', name: other.user.name }),
      ]),
    )
    expect(body.items).toHaveLength(2)
  })
})

describe('GET /api/v1/agents', () => {
  it('lists installed agents with the tools of their installed version, and which may be called', async () => {
    const caller = await installed(platform.deps)
    const target = await installed(platform.deps, { workspaceId: caller.workspaceId, scopes: ['tasks:read'] })
    const tools = [{ name: 'check', description: 'Checks.', input_schema: { type: 'object' } }]
    const { app, version, installation } = target
    await platform.deps.table.transact([
      VersionEntity.update(version, { set: { manifest: { json: JSON.stringify({ id: version.agent_id, tools }) } } }),
      AppEntity.update({ id: app.id }, { set: { verified: true } }),
    ])
    const { body } = await get(caller.token, '/agents')
    const found = new Map(body.items.map((one: { slug: string }) => [one.slug, one]))
    expect(found.get(app.slug)).toEqual({
      installation_id: installation.id,
      slug: app.slug,
      name: app.name,
      summary: app.summary,
      agent: { id: version.agent_id, version: '1.0.0' },
      status: 'active',
      verified: true,
      callable: true,
      takes_tasks: true,
      tools: [{ ...tools[0], input_schema: { type: 'object', properties: {} } }],
    })
    expect(found.get(caller.app.slug)).toMatchObject({ callable: false })

    await platform.deps.table.transact([InstallationEntity.update(installation, { set: { allowed_callers: [] } })])
    const closed = (await get(caller.token, '/agents')).body.items
    expect(closed.find((one: { slug: string }) => one.slug === app.slug)).toMatchObject({ callable: false })
  })

  it('omits uninstalled agents', async () => {
    const caller = await installed(platform.deps)
    const { installation } = await installed(platform.deps, { workspaceId: caller.workspaceId })
    await platform.deps.table.transact([InstallationEntity.update(installation, { set: { status: 'revoked' } })])
    expect((await get(caller.token, '/agents')).body.items).toHaveLength(1)
  })
})

describe('GET /api/v1/workspace', () => {
  it('returns the workspace of the token', async () => {
    const { token, workspaceId } = await installed(platform.deps)
    const before = (await get(token, '/workspace')).body
    expect(before).toMatchObject({ id: workspaceId, is_sandbox: false, cross_agent_enabled: true })
    await platform.deps.table.transact([
      WorkspaceEntity.update({ id: workspaceId }, { set: { cross_agent_enabled: false } }),
    ])
    expect((await get(token, '/workspace')).body).toMatchObject({ cross_agent_enabled: false })
  })
})

describe('the tool notify_user', () => {
  const notify = (token: string, args: object) =>
    platform.call('POST', '/api/v1/tools/notify_user/invoke', { token, body: { arguments: args } })

  it('notifies one member or all, and the agent receives notification.created', async () => {
    const { token, app, person } = await installed(platform.deps)
    const one = await notify(token, { title: 'Low stock', body: 'Two left.', user_id: person.user.id })
    expect(one.body).toMatchObject({ status: 'ok', result: { user_id: person.user.id } })
    await platform.drain()
    platform.clock.advance(10)
    const all = await notify(token, { title: 'Low stock', body: 'None left.' })
    expect(all.body.result.user_id).toBeNull()
    await platform.drain()
    const { body } = await get(token, '/events?types=notification.*')
    expect(body.items.map((event: { data: object }) => event.data)).toEqual([
      { notification_id: one.body.result.notification_id, title: 'Low stock', body: 'Two left.', app_id: app.id },
      { notification_id: all.body.result.notification_id, title: 'Low stock', body: 'None left.', app_id: app.id },
    ])
  })

  it('notifies no one outside the workspace', async () => {
    const { token } = await installed(platform.deps)
    const { person } = await installed(platform.deps)
    for (const user_id of [person.user.id, 'nonsense']) {
      const answer = await notify(token, { title: 'Hello', body: 'You.', user_id })
      expect([answer.status, answer.body.error.code]).toEqual([422, 'validation_error'])
    }
  })
})
