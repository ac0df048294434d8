import { beforeEach, describe, expect, it } from 'vitest'
import { GrantEntity } from '#shared/access/grants/entity.ts'
import { InstallationEntity } from '#shared/access/installations/entity.ts'
import { AppEntity } from '#shared/catalogue/apps/entity.ts'
import { ClaimEntity } from '#shared/foundation/claims/entity.ts'
import { WorkspaceEntity } from '#shared/identity/people/entity.ts'
import type { Scope } from '#shared/kernel/scopes.ts'
import { installed } from '#testkit/fixtures.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()
beforeEach(() => {
  platform.clock.advance(60_000)
  platform.outbox.length = 0
})

let people = 0
const signIn = async (role = 'owner') => {
  const n = ++people
  return (await platform.call('POST', '/console/session', { body: { user: `u${n}`, workspace: `w${n}`, role } })).body
}

/** Creates an approved app with a unique slug. */
const published = async (scopes: Scope[] = ['runs:read', 'chat:write']) => {
  const { app, version } = await installed(platform.deps, { scopes })
  await platform.deps.table.transact([ClaimEntity.create({ kind: 'slug', value: app.slug, owner_id: app.id })])
  return { app, version }
}

const install = (token: string, body: object) => platform.call('POST', '/console/installations', { token, body })
const list = (token: string, query = '') => platform.call('GET', `/console/installations${query}`, { token })

describe('POST /console/installations', () => {
  it('installs the promoted version with the app’s requested scopes, and issues no grant', async () => {
    const { app, version } = await published()
    const person = await signIn()
    const answer = await install(person.token, { slug: app.slug })
    expect(answer.status).toBe(201)
    expect(answer.body).toMatchObject({
      id: expect.stringMatching(/^ins_/),
      status: 'active',
      app: { id: app.id, slug: app.slug, name: app.name },
      agent: { id: version.agent_id, version: '1.0.0' },
      scopes: ['runs:read', 'chat:write'],
      is_sandbox: false,
      owner: { id: person.user.id },
    })
    expect(platform.outbox.map(({ type, data }) => [type, JSON.parse(data).installation_id])).toEqual([
      ['installation.created', answer.body.id],
    ])
    const grants = await platform.deps.table.query(GrantEntity, { installation_id: answer.body.id }, { limit: 5 })
    expect(grants.items).toEqual([])
  })

  it('accepts fewer scopes than the app requests, never more', async () => {
    const { app } = await published(['runs:write'])
    const person = await signIn()
    const less = await install(person.token, { slug: app.slug, scopes: ['runs:read'] })
    expect(less.body.scopes).toEqual(['runs:read'])
    const more = await install(person.token, { slug: app.slug, scopes: ['files:read'] })
    expect([more.status, more.body.error.code]).toEqual([403, 'insufficient_scope'])
    expect((await install(person.token, { slug: app.slug, scopes: ['no:such'] })).status).toBe(422)
  })

  it('keeps an existing installation and its version', async () => {
    const { app } = await published()
    const person = await signIn()
    const first = (await install(person.token, { slug: app.slug })).body
    const again = await install(person.token, { slug: app.slug, scopes: ['runs:read'] })
    expect(again.body).toMatchObject({ id: first.id, scopes: ['runs:read'], agent: { version: '1.0.0' } })
    expect((await list(person.token)).body.items).toHaveLength(1)
  })

  it('creates one installation for 20 concurrent requests', async () => {
    const { app } = await published()
    const person = await signIn()
    const answers = await Promise.all(Array.from({ length: 20 }, () => install(person.token, { slug: app.slug })))
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(201))
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1)
    expect(platform.outbox.map(({ type }) => type)).toEqual(['installation.created'])
  })

  it('requires an existing, approved app with a promoted version', async () => {
    const { app } = await published()
    const owner = await signIn()
    expect((await install(owner.token, { slug: 'surely-not-there' })).body.error.code).toBe('not_found')
    const change = (set: object) => platform.deps.table.transact([AppEntity.update({ id: app.id }, { set })])
    await change({ status: 'draft' })
    expect((await install(owner.token, { slug: app.slug })).body.error.code).toBe('app_not_approved')
    await change({ status: 'suspended' })
    expect((await install(owner.token, { slug: app.slug })).body.error.code).toBe('app_suspended')
    await change({ status: 'approved', promoted_version_id: undefined })
    expect((await install(owner.token, { slug: app.slug })).body.error.code).toBe('no_manifest')
  })

  it('changes the scopes of a delisted app where it is installed, and doesn’t install it elsewhere', async () => {
    const { app } = await published()
    const [owner, stranger] = [await signIn(), await signIn()]
    const { id } = (await install(owner.token, { slug: app.slug, scopes: ['runs:read'] })).body
    await platform.deps.table.transact([AppEntity.update({ id: app.id }, { set: { status: 'delisted' } })])
    const wider = await install(owner.token, { slug: app.slug })
    expect([wider.status, wider.body]).toMatchObject([201, { id, scopes: ['runs:read', 'chat:write'] }])
    const remove = () => platform.call('DELETE', `/console/installations/${id}`, { token: owner.token })
    expect((await remove()).status).toBe(204)
    for (const { token } of [stranger, owner]) {
      const { status, body } = await install(token, { slug: app.slug })
      expect([status, body.error.code]).toEqual([403, 'app_not_approved'])
      expect(body.error.message).toMatch(/removed from the marketplace/)
    }
    expect((await list(stranger.token)).body.items).toEqual([])
  })

  it('doesn’t lift a suspension', async () => {
    const { app } = await published()
    const owner = await signIn()
    const { id } = (await install(owner.token, { slug: app.slug })).body
    await platform.deps.table.transact([
      InstallationEntity.update({ workspace_id: owner.workspace.id, id }, { set: { status: 'suspended' } }),
    ])
    const answer = await install(owner.token, { slug: app.slug })
    expect([answer.status, answer.body.error.code]).toEqual([403, 'installation_suspended'])
  })

  it('refuses a scope that an admin denied', async () => {
    const { app } = await published()
    const owner = await signIn()
    await platform.deps.table.transact([
      WorkspaceEntity.update({ id: owner.workspace.id }, { set: { denied_scopes: ['chat:write'] } }),
    ])
    expect((await install(owner.token, { slug: app.slug })).body.error.code).toBe('scope_denied_by_admin')
    expect((await install(owner.token, { slug: app.slug, scopes: ['runs:read'] })).status).toBe(201)
  })
})

describe('GET /console/installations', () => {
  it('lists the workspace’s active installations, newest first, in pages', async () => {
    const owner = await signIn()
    const ids: string[] = []
    for (let i = 0; i < 4; i++) {
      platform.clock.advance(1_000)
      const { app } = await published()
      ids.unshift((await install(owner.token, { slug: app.slug })).body.id)
    }
    const first = (await list(owner.token, '?limit=3')).body
    const second = (await list(owner.token, `?limit=3&cursor=${first.next_cursor}`)).body
    expect([...first.items, ...second.items].map(({ id }) => id)).toEqual(ids)
    expect([first.has_more, second.has_more, second.next_cursor]).toEqual([true, false, null])
    const at = { workspace_id: owner.workspace.id, id: ids[0] ?? '' }
    await platform.deps.table.transact([InstallationEntity.update(at, { set: { status: 'revoked' } })])
    expect((await list(owner.token)).body.items.map(({ id }: { id: string }) => id)).toEqual(ids.slice(1))
    expect((await list((await signIn()).token)).body.items).toEqual([])
  })
})
