import { describe, expect, it } from 'vitest'
import { DeveloperEntity } from '#shared/identity/developers/entity.ts'
import { newDeveloper } from '#testkit/developers.ts'
import { installed } from '#testkit/fixtures.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()
const headers = { 'x-admin-key': 'local-admin-key' }
const get = (path: string) => {
  platform.clock.advance(1_000)
  return platform.call('GET', `/admin/${path}`, { headers })
}
const post = (path: string, body: unknown = {}) => {
  platform.clock.advance(1_000)
  return platform.call('POST', `/admin/${path}`, { headers, body })
}
const ids = (body: { items: { id: string }[] }) => body.items.map(({ id }) => id)
const register = async (name: string) => {
  platform.clock.advance(1_000)
  const email = `${name
    .toLowerCase()
    .replaceAll(/[^a-z]/g, '.')
    .replace(/^\./, '')}@example.com`
  const { body } = await platform.call('POST', '/api/v1/dev/register', {
    body: { email, name, company: `${name} Ltd` },
  })
  return { id: body.developer.id as string, key: body.api_key as string, sandbox: body.sandbox_workspace.id as string }
}

describe('GET /admin/developers', () => {
  it('lists by status, badge and name prefix, with exact totals', async () => {
    const ada = await register('Ada Example')
    const bob = await register('Bob Example')
    const eve = await register('Éve Adams')
    await post(`developers/${bob.id}/verify`)
    await post(`developers/${eve.id}/block`, { reason: 'Spam.' })
    const all = await get('developers')
    expect([ids(all.body), all.body.total]).toEqual([[eve.id, bob.id, ada.id], 3])
    expect((await get('developers?limit=1&offset=1')).body).toMatchObject({ items: [{ id: bob.id }], total: 3 })
    for (const [query, expected] of [
      ['status=blocked', [eve.id]],
      ['status=active', [bob.id, ada.id]],
      ['verified=true', [bob.id]],
      ['verified=false&status=active', [ada.id]],
      ['q=ADA', [ada.id]],
      ['q=bob.example%40', [bob.id]],
      ['q=%C3%89VE', [eve.id]],
      ['q=%C3%A9ve&status=active', []],
      ['q=zzz', []],
    ] as const) {
      const { body } = await get(`developers?${query}`)
      expect([ids(body), body.total], query).toEqual([expected, expected.length])
    }
  })
})

describe('a developer', () => {
  it('gets not_a_developer at once when blocked, until unblocked, while their apps keep working', async () => {
    const { id, key } = await register('Carl')
    const me = async () =>
      (await platform.call('GET', '/api/v1/dev/me', { headers: { 'x-developer-key': key } })).body.error?.code
    const { app, token } = await installed(platform.deps)
    expect(app.id).toBeTruthy()
    const blocked = await post(`developers/${id}/block`, { reason: 'Spam.' })
    expect(blocked.body).toMatchObject({ status: 'blocked', status_reason: 'Spam.' })
    expect(await me()).toBe('not_a_developer')
    expect((await platform.call('GET', '/api/v1/me', { token })).status).toBe(200)
    expect((await post(`developers/${id}/block`, { reason: 'Spam.' })).body.error.code).toBe('conflict')
    expect((await post(`developers/${id}/block`)).body.error.code).toBe('validation_error')
    expect((await post(`developers/${id}/unblock`)).body).toMatchObject({ status: 'active', status_reason: null })
    expect(await me()).toBeUndefined()
  })

  it('is blocked once by 10 requests that race a key rotation, and no key works afterwards', async () => {
    const { id, key } = await register('Dora')
    const [rotated, ...answers] = await Promise.all([
      platform.call('POST', '/api/v1/dev/me/rotate-key', { headers: { 'x-developer-key': key }, body: {} }),
      ...Array.from({ length: 10 }, () => post(`developers/${id}/block`, { reason: 'Spam.' })),
    ])
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    for (const one of [key, rotated?.body.api_key].filter(Boolean)) {
      const { status } = await platform.call('GET', '/api/v1/dev/me', { headers: { 'x-developer-key': one } })
      expect([401, 403]).toContain(status)
    }
    expect((await get('developers?q=dora&status=blocked')).body.total).toBe(1)
  })

  it('has the badge on every app once verified', async () => {
    const owner = await newDeveloper(platform)
    const { body: app } = await owner.call('POST', '/api/v1/dev/apps', {
      slug: 'badged',
      name: 'Badged',
      type: 'agent',
    })
    await post(`developers/${owner.id}/verify`)
    expect((await post(`developers/${owner.id}/verify`)).body.verified).toBe(true)
    expect((await owner.call('GET', `/api/v1/dev/apps/${app.id}`)).body.verified).toBe(true)
    expect((await platform.deps.table.get(DeveloperEntity, { id: owner.id }))?.verified).toBe(true)
  })
})

describe('GET /admin/workspaces', () => {
  it('reflects changed names and statuses, with exact totals', async () => {
    const { workspaceId, person } = await installed(platform.deps)
    const { sandbox } = await register('Fred')
    const { token } = person
    const totals = async () => [
      (await get('workspaces?status=active&sandbox=false')).body.total,
      (await get('workspaces?status=suspended&sandbox=false')).body.total,
      (await get('workspaces?status=deleting&sandbox=false')).body.total,
    ]
    const [active, suspended, deleting] = await totals()
    await platform.call('PATCH', '/console/workspace', { token, body: { name: 'Zebra & Söhne' } })
    expect(ids((await get('workspaces?q=zebra')).body)).toEqual([workspaceId])
    expect(ids((await get('workspaces?q=fred')).body)).toEqual([sandbox])
    expect(ids((await get('workspaces?q=fred&sandbox=false')).body)).toEqual([])
    await post(`workspaces/${workspaceId}/status`, { status: 'suspended', reason: 'Unpaid.' })
    expect(await totals()).toEqual([active - 1, suspended + 1, deleting])
    expect(ids((await get('workspaces?status=suspended&q=ZEBRA')).body)).toEqual([workspaceId])
    await platform.call('DELETE', '/console/workspace', { token })
    expect(await totals()).toEqual([active - 1, suspended, deleting + 1])
    await platform.call('POST', '/console/workspace/restore', { token })
    expect(await totals()).toEqual([active - 1, suspended + 1, deleting])
  })
})

describe('GET /admin/audit', () => {
  it('shows actor, action, subject, source, and the state before and after, and applies each filter', async () => {
    const { workspaceId } = await installed(platform.deps)
    const { id } = await register('Greta')
    const before = new Date(platform.clock.now() + 500).toISOString()
    await post(`developers/${id}/block`, { reason: 'Spam.' })
    await post(`workspaces/${workspaceId}/status`, { status: 'suspended', reason: 'Unpaid.' })
    const { body } = await get('audit?limit=2')
    expect(body.items).toMatchObject([
      { action: 'workspace.suspended', subject: { type: 'workspace', id: workspaceId } },
      {
        action: 'developer.blocked',
        actor: { type: 'admin', name: 'Local admin' },
        subject: { type: 'developer', id, name: 'Greta' },
        before: { status: 'active' },
        after: { status: 'blocked' },
        details: { reason: 'Spam.', key_name: 'local' },
        workspace_id: null,
        source_ip: expect.stringMatching(/\d/),
        request_id: expect.stringMatching(/^req_/),
      },
    ])
    const actor = body.items[0].actor.id
    const actions = async (query: string) => {
      const answer = await get(`audit?${query}`)
      return [answer.body.items.map(({ action }: { action: string }) => action), answer.body.total]
    }
    expect(await actions(`subject=${id}`)).toEqual([['developer.blocked', 'developer.registered'], 2])
    expect(await actions(`subject=${id}&since=${before}`)).toEqual([['developer.blocked'], 1])
    expect(await actions(`since=${before}`)).toEqual([['workspace.suspended', 'developer.blocked'], 2])
    expect(await actions(`since=${before}&limit=1&offset=1`)).toEqual([['developer.blocked'], 2])
    expect(await actions(`since=${before}&action=workspace.*&actor=${actor}`)).toEqual([['workspace.suspended'], 1])
    expect((await actions(`until=${before}&subject=${id}`))[0]).toEqual(['developer.registered'])
    const { token } = (await installed(platform.deps)).person
    await platform.call('POST', '/console/invitations', { token, body: {} })
    const { workspace_id } = (await get('audit?action=invitation.*&limit=1')).body.items[0]
    expect((await get(`audit?workspace=${workspace_id}`)).body).toMatchObject({ total: 1, items: [{ workspace_id }] })
    expect((await get(`audit?since=2024-01-01T00:00:00Z&until=2024-02-01T00:00:00Z`)).body.total).toBe(0)
  })

  it('covers 90 days by default, and the whole retention for one workspace or one subject', async () => {
    const { person, workspaceId } = await installed(platform.deps)
    const invited = await platform.call('POST', '/console/invitations', { token: person.token, body: {} })
    expect(invited.status, invited.text).toBe(201)
    platform.clock.advance(100 * 86_400_000)
    expect((await get('audit?action=invitation.*')).body.total).toBe(0)
    expect((await get(`audit?workspace=${workspaceId}&action=invitation.*`)).body.total).toBe(1)
    expect((await get(`audit?workspace=${workspaceId}`)).body.total).toBe(1)
    const { id } = (await get(`audit?workspace=${workspaceId}`)).body.items[0].subject
    expect((await get(`audit?workspace=${workspaceId}&subject=${id}`)).body.total).toBe(1)
  })
})
