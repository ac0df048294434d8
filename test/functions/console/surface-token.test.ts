import { beforeEach, describe, expect, it } from 'vitest'
import { requestFunctions } from '#functions/registry.ts'
import { InstallationEntity } from '#shared/access/installations/entity.ts'
import { AppEntity } from '#shared/catalogue/apps/entity.ts'
import { VersionEntity } from '#shared/catalogue/versions/entity.ts'
import { MemberEntity, UserEntity, WorkspaceEntity } from '#shared/identity/people/entity.ts'
import { covers, type Scope } from '#shared/kernel/scopes.ts'
import type { Write } from '#shared/table/entity.ts'
import { installed, member } from '#testkit/fixtures.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { pathWithUnknownIds } from '#testkit/world.ts'

const platform = usingPlatform()
beforeEach(() => platform.clock.advance(60_000))

type Installed = Awaited<ReturnType<typeof installed>>

const issue = (token: string, id: string, headers = {}) =>
  platform.call('POST', `/console/installations/${id}/surface-token`, { token, headers })
const me = (token: string) => platform.call('GET', '/api/v1/me', { token })
const write = (...writes: Write[]) => platform.deps.table.transact(writes)

/** Creates an installation and a surface token that a plain member requested. */
const shown = async (scopes: readonly Scope[] = ['runs:write', 'tools:invoke', 'webhooks:manage']) => {
  const app = await installed(platform.deps, { scopes })
  const person = await member(platform.deps, app.workspaceId, 'member')
  const answer = await issue(person.token, app.installation.id)
  return { app, person, answer, token: answer.body.token as string }
}

const all = Object.values(requestFunctions).flat()
const call = ({ method, path }: { method: string; path: string }, token: string) =>
  platform.call(method, path, { token, ...(method !== 'GET' && { body: {} }) })
const named = (endpoints: typeof all) =>
  endpoints.map((endpoint) => [`${endpoint.method} ${endpoint.path}`, endpoint] as const)

describe('POST /console/installations/{id}/surface-token', () => {
  it('returns a token of 5 minutes and its page to any member', async () => {
    const { app, person, answer } = await shown()
    expect([answer.status, answer.headers['cache-control']]).toEqual([200, 'no-store'])
    expect(answer.body).toEqual({
      token: expect.stringMatching(/^eyJ/),
      token_type: 'Bearer',
      expires_in: 300,
      url: null,
    })
    const manifest = { json: JSON.stringify({ surface: { url: 'https://agent.example.com/panel' } }) }
    await write(VersionEntity.update({ app_id: app.app.id, id: app.version.id }, { set: { manifest } }))
    const again = await issue(person.token, app.installation.id)
    expect(again.body.url).toBe('https://agent.example.com/panel')
  })

  it('is not_found for an uninstalled installation', async () => {
    const { app, person } = await shown()
    await write(InstallationEntity.update(app.installation, { set: { status: 'revoked' } }))
    expect((await issue(person.token, app.installation.id)).body.error.code).toBe('not_found')
  })

  it.each<[what: string, code: string, change: (app: Installed) => Write]>([
    ['app', 'app_suspended', ({ app }) => AppEntity.update({ id: app.id }, { set: { status: 'suspended' } })],
    [
      'installation',
      'installation_suspended',
      ({ installation }) => InstallationEntity.update(installation, { set: { status: 'suspended' } }),
    ],
    [
      'workspace',
      'forbidden',
      ({ workspaceId }) => WorkspaceEntity.update({ id: workspaceId }, { set: { status: 'suspended' } }),
    ],
  ])('is refused while the %s is suspended, even for a key with a stored response', async (_what, code, change) => {
    const { app, person } = await shown()
    const key = { 'idempotency-key': 'one' }
    expect((await issue(person.token, app.installation.id, key)).status).toBe(200)
    await write(change(app))
    for (const headers of [{}, key]) {
      const answer = await issue(person.token, app.installation.id, headers)
      expect([answer.status, answer.body.error.code]).toEqual([403, code])
    }
  })
})

describe('an Idempotency-Key of a surface token', () => {
  const key = { 'idempotency-key': 'one' }
  const again = async (change: (app: Installed) => Promise<unknown> | undefined) => {
    const { app, person } = await shown()
    const first = await issue(person.token, app.installation.id, key)
    await change(app)
    return { first: first.body.token, second: (await issue(person.token, app.installation.id, key)).body.token }
  }

  it('returns the same token while it is valid', async () => {
    const { first, second } = await again(() => undefined)
    expect(second).toBe(first)
  })

  it.each<[what: string, change: (app: Installed) => Promise<unknown> | undefined]>([
    ['after its 5 minutes', async () => platform.clock.advance(300_000)],
    [
      'after a rotated client secret',
      ({ app }) => write(AppEntity.update({ id: app.id }, { set: { secret_version: 2 } })),
    ],
  ])('returns a valid token %s', async (_what, change) => {
    const { first, second } = await again(change)
    expect([(await me(first)).status, (await me(second)).status]).toEqual([401, 200])
  })
})

describe('a surface token', () => {
  it('describes itself', async () => {
    const { app, token } = await shown()
    expect((await me(token)).body).toMatchObject({
      installation: { id: app.installation.id },
      token: { type: 'surface', expires_at: Math.floor(platform.clock.now() / 1_000) + 300 },
    })
  })

  const GRANTED: Scope[] = ['runs:write', 'tools:invoke', 'webhooks:manage']
  const reads = all.filter(({ method, caller }) => method === 'GET' && caller === 'integration')
  it.each(named(reads))('reads %s within the granted read scopes', async (_name, endpoint) => {
    const { token } = await shown(GRANTED)
    const answer = await call({ method: 'GET', path: pathWithUnknownIds(endpoint) }, token)
    const { scope } = endpoint
    const may = scope === undefined || (scope.endsWith(':read') && covers(GRANTED, scope))
    if (may) return void expect([200, 404]).toContain(answer.status)
    expect([answer.status, answer.body.error.code]).toEqual([403, 'insufficient_scope'])
  })

  it('expires after 5 minutes', async () => {
    const { token } = await shown()
    platform.clock.advance(299_000)
    expect((await me(token)).status).toBe(200)
    platform.clock.advance(1_000)
    expect((await me(token)).status).toBe(401)
  })

  type Shown = Awaited<ReturnType<typeof shown>>
  it.each<[what: string, change: (shown: Shown) => Write]>([
    ['installation', ({ app }) => InstallationEntity.update(app.installation, { set: { status: 'revoked' } })],
    ['client secret', ({ app }) => AppEntity.update({ id: app.app.id }, { set: { secret_version: 2 } })],
    [
      'membership of the person',
      ({ app, person }) => MemberEntity.delete({ workspace_id: app.workspaceId, user_id: person.user.id }),
    ],
    ['person', ({ person }) => UserEntity.update({ id: person.user.id }, { set: { status: 'blocked' } })],
  ])('is revoked at once with the %s', async (_what, change) => {
    const made = await shown()
    expect((await me(made.token)).status).toBe(200)
    await write(change(made))
    const answer = await me(made.token)
    expect([answer.status, answer.body.error.code]).toEqual([401, 'unauthorized'])
  })
})
