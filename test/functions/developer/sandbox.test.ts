import { beforeAll, describe, expect, it } from 'vitest'
import { AppEntity } from '#shared/catalogue/apps/entity.ts'
import { newApp, newDeveloper, publish, type TestApp, type TestDeveloper } from '#testkit/developers.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()
let developer: TestDeveloper

beforeAll(async () => {
  developer = await newDeveloper(platform)
})

const token = (app: TestApp, headers?: Record<string, string>) =>
  developer.call('POST', `/api/v1/dev/apps/${app.id}/sandbox-token`, undefined, headers)
const me = (access: string) => platform.call('GET', '/api/v1/me', { token: access })

describe('POST …/sandbox-token', () => {
  it('returns a token for the sandbox installation, with the app’s scopes and the agent’s version', async () => {
    const app = await newApp(developer)
    await publish(developer, app)
    const { status, body, headers } = await token(app)
    expect(status).toBe(200)
    expect(body).toEqual({
      access_token: expect.any(String),
      token_type: 'Bearer',
      expires_in: 7200,
      refresh_token: expect.any(String),
      scope: 'runs:write tools:invoke',
      installation_id: expect.stringMatching(/^ins_/),
      workspace_id: developer.workspaceId,
      agent_version: '1.0.0',
    })
    expect(headers['cache-control']).toBe('no-store')
    const identity = await me(body.access_token)
    expect(identity.body).toMatchObject({
      installation: { id: body.installation_id, status: 'active', scopes: ['runs:write', 'tools:invoke'] },
      workspace: { id: developer.workspaceId, is_sandbox: true },
      app: { id: app.id },
    })
  })

  it('issues a new token each time, while the installation keeps its version', async () => {
    const app = await newApp(developer)
    await publish(developer, app)
    const first = (await token(app)).body
    await publish(developer, app, { version: '1.1.0' })
    const second = (await token(app)).body
    expect(second.access_token).not.toBe(first.access_token)
    expect(second.refresh_token).not.toBe(first.refresh_token)
    expect([second.installation_id, second.agent_version]).toEqual([first.installation_id, '1.0.0'])
    for (const { access_token } of [first, second]) expect((await me(access_token)).status).toBe(200)
  })

  it('creates one installation for 8 concurrent requests', async () => {
    const app = await newApp(developer)
    await publish(developer, app)
    const answers = await Promise.all(Array.from({ length: 8 }, () => token(app)))
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200))
    expect(new Set(answers.map(({ body }) => body.installation_id)).size).toBe(1)
    expect(new Set(answers.map(({ body }) => body.access_token)).size).toBe(8)
  })

  it('follows the app’s requested scopes without any consent', async () => {
    const app = await newApp(developer)
    await publish(developer, app)
    await token(app)
    await developer.call('PATCH', `/api/v1/dev/apps/${app.id}`, { requested_scopes: ['runs:read', 'tasks:read'] })
    expect((await token(app)).body.scope).toBe('runs:read tasks:read')
  })

  it('answers no_manifest before the first publication, and app_suspended for a suspended app', async () => {
    const app = await newApp(developer)
    const before = await token(app)
    expect([before.status, before.body.error.code]).toEqual([409, 'no_manifest'])
    await publish(developer, app)
    await platform.deps.table.transact([AppEntity.update({ id: app.id }, { set: { status: 'suspended' } })])
    const after = await token(app)
    expect([after.status, after.body.error.code]).toEqual([403, 'app_suspended'])
  })
})

describe('POST /api/v1/dev/sandbox/session', () => {
  const open = (developer: TestDeveloper, as: string) => developer.call('POST', '/api/v1/dev/sandbox/session', { as })
  const identity = async (token: string) => (await platform.call('GET', '/console/me', { token })).body

  it('signs the developer in to their own sandbox, as its owner or as a customer, always the same two people', async () => {
    const developer = await newDeveloper(platform)
    const [owner, customer, again] = [
      await open(developer, 'owner'),
      await open(developer, 'customer'),
      await open(developer, 'customer'),
    ]
    expect([owner.status, customer.status]).toEqual([201, 201])
    const people = await Promise.all([owner, customer, again].map(({ body }) => identity(body.token)))
    expect(people.map(({ workspace }) => [workspace.id, workspace.role])).toEqual([
      [developer.workspaceId, 'owner'],
      [developer.workspaceId, 'member'],
      [developer.workspaceId, 'member'],
    ])
    expect(people[2].user.id).toBe(people[1].user.id)
    expect(people[1].user.name).toBe('Sample customer')
    const { body } = await platform.call('GET', '/console/members', { token: owner.body.token })
    expect(body.items).toHaveLength(2)
  })

  it('opens another developer’s sandbox to nobody', async () => {
    const [one, other] = [await newDeveloper(platform), await newDeveloper(platform)]
    const { body } = await open(one, 'owner')
    expect(body.workspace.id).toBe(one.workspaceId)
    const refused = await platform.call('POST', '/console/session/workspace', {
      token: body.token,
      body: { workspace_id: other.workspaceId },
    })
    expect(refused.status).toBe(404)
  })
})
