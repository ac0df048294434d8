import { beforeEach, describe, expect, it } from 'vitest'
import { AppEntity } from '#shared/catalogue/apps/entity.ts'
import { sha256 } from '#shared/kernel/secrets.ts'
import { AuditEntity } from '#shared/staff/audit/entity.ts'
import { adopt, newApp, newDeveloper, publish, type TestDeveloper } from '#testkit/developers.ts'
import { callbackToken, installed } from '#testkit/fixtures.ts'
import { actors, holdUntil } from '#testkit/oauth.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

let developer: TestDeveloper
type Connected = Awaited<ReturnType<typeof act.connected>>
let client: Connected
const platform = usingPlatform()
const act = actors(platform)
beforeEach(async () => {
  platform.clock.advance(60_000)
  developer = await newDeveloper(platform)
  client = await act.connected()
  await adopt(platform, developer, client.app)
})

const rotate = (headers?: Record<string, string>, body?: unknown) =>
  developer.call('POST', `/api/v1/dev/apps/${client.app.id}/rotate-secret`, body, headers)

const refreshed = (clientSecret: string, token = client.tokens.refresh_token) =>
  act.refresh({ app: client.app, clientSecret }, token)

describe('rotating the client secret', () => {
  it('returns the new secret once, and stores only its hash', async () => {
    const answer = await rotate()
    expect(answer.status, answer.text).toBe(200)
    expect(answer.body).toEqual({
      client_id: client.app.id,
      client_secret: expect.stringMatching(/^cs_[\w-]{43}$/),
    })
    expect(answer.headers['cache-control']).toBe('no-store')
    const record = await platform.deps.table.get(AppEntity, { id: client.app.id })
    expect(record).toMatchObject({ client_secret_hash: sha256(answer.body.client_secret), secret_version: 2 })
    expect((await developer.call('GET', `/api/v1/dev/apps/${client.app.id}`)).text).not.toContain('cs_')
    expect(platform.logs.join('\n')).not.toContain(answer.body.client_secret.slice(3))
  })

  it('keeps revoked tokens from using up the rate limits of valid ones', async () => {
    const sandboxOf = async () => {
      const answer = await developer.call('POST', `/api/v1/dev/apps/${app.id}/sandbox-token`)
      return answer.body.access_token as string
    }
    const app = await newApp(developer)
    await publish(developer, app)
    const ended = await sandboxOf()
    await developer.call('POST', `/api/v1/dev/apps/${app.id}/rotate-secret`)
    const validToken = await sandboxOf()
    const left = async () =>
      Number((await platform.call('GET', '/api/v1/me', { token: validToken })).headers['x-ratelimit-remaining'])
    const before = await left()
    for (let i = 0; i < 5; i++) expect(await act.works(ended)).toBe(401)
    expect(await left()).toBe(before - 1)
  })

  it('revokes the sandbox token, too, whose refresh token works with the new secret', async () => {
    const app = await newApp(developer)
    await publish(developer, app)
    const sandbox = (await developer.call('POST', `/api/v1/dev/apps/${app.id}/sandbox-token`)).body
    expect(await act.works(sandbox.access_token)).toBe(200)
    const { client_id, client_secret } = (await developer.call('POST', `/api/v1/dev/apps/${app.id}/rotate-secret`)).body
    expect(await act.works(sandbox.access_token)).toBe(401)
    const { refresh_token } = sandbox
    const next = await act.token({ grant_type: 'refresh_token', client_id, client_secret, refresh_token })
    expect(await act.works(next.body.access_token)).toBe(200)
    const fresh = (await developer.call('POST', `/api/v1/dev/apps/${app.id}/sandbox-token`)).body
    expect(await act.works(fresh.access_token), 'and a new one works').toBe(200)
  })

  it('revokes every access and callback token at once, and none of other apps', async () => {
    const other = await installed(platform.deps, { workspaceId: developer.workspaceId })
    const run = await platform.call('POST', '/api/v1/runs', { token: client.token, body: { input: {} } })
    const callback = await callbackToken(platform.deps, client, run.body.id)
    const tokens = [client.token, client.tokens.access_token, callback]
    for (const token of tokens) expect(await act.works(token)).toBe(200)
    const { client_secret } = (await rotate()).body
    for (const token of tokens) expect(await act.works(token)).toBe(401)
    expect(await act.works(other.token)).toBe(200)
    const introspected = await act.introspect({ ...client, clientSecret: client_secret }, client.tokens.access_token)
    expect(introspected.body).toEqual({ active: false })
  })

  it('makes the old secret invalid_client at once, while refresh tokens work with the new one', async () => {
    const { client_secret } = (await rotate()).body
    const old = await refreshed(client.clientSecret)
    expect([old.status, old.body.error.code]).toEqual([401, 'invalid_client'])
    const next = await refreshed(client_secret)
    expect(next.status).toBe(200)
    expect(await act.works(next.body.access_token)).toBe(200)
  })

  it('lets an earlier code be redeemed with the new secret', async () => {
    const consent = await act.consented(client.app)
    const { client_secret } = (await rotate()).body
    expect((await act.redeem(client, consent)).body.error.code).toBe('invalid_client')
    const answer = await act.redeem({ app: client.app, clientSecret: client_secret }, consent)
    expect(await act.works(answer.body.access_token)).toBe(200)
  })

  it('is audited for the platform, without a secret', async () => {
    const { client_secret } = (await rotate()).body
    const { items } = await platform.deps.table.query(AuditEntity, { scope: 'platform' }, { limit: 5 })
    const entry = items.find(({ action }) => action === 'app.secret_rotated')
    expect(entry).toMatchObject({
      actor: { type: 'developer', id: developer.id },
      target: { type: 'app', id: client.app.id },
      source_ip: '203.0.113.7',
    })
    expect(JSON.stringify(entry)).not.toContain(client_secret.slice(3))
    expect(JSON.stringify(entry)).not.toContain(sha256(client_secret))
  })

  it('happens once under 20 concurrent requests: the others are conflicts, and the returned secret works', async () => {
    const release = holdUntil(platform, 'app', 20)
    platform.clock.advance(10_000)
    const answers = await Promise.all(Array.from({ length: 20 }, () => rotate())).finally(release)
    const won = answers.filter(({ status }) => status === 200)
    expect(won).toHaveLength(1)
    for (const { status, body } of answers)
      if (status !== 200) expect([status, body.error.code]).toEqual([409, 'conflict'])
    expect((await refreshed(won[0]?.body.client_secret)).status).toBe(200)
    expect((await platform.deps.table.get(AppEntity, { id: client.app.id }))?.secret_version).toBe(2)
  })

  it('revokes the previous secret each time when repeated', async () => {
    const first = (await rotate()).body.client_secret
    const second = (await rotate()).body.client_secret
    expect(second).not.toBe(first)
    expect((await refreshed(first)).status).toBe(401)
    expect((await refreshed(second)).status).toBe(200)
  })

  it('keeps the app’s other fields, and isn’t undone by a concurrent edit', async () => {
    const before = (await developer.call('GET', `/api/v1/dev/apps/${client.app.id}`)).body
    const [rotated, edited] = await Promise.all([
      rotate(),
      developer.call('PATCH', `/api/v1/dev/apps/${client.app.id}`, { support_email: 'help@example.com' }),
    ])
    expect([rotated.status, edited.status]).toEqual([200, 200])
    expect((await refreshed(rotated.body.client_secret)).status).toBe(200)
    const after = (await developer.call('GET', `/api/v1/dev/apps/${client.app.id}`)).body
    expect(after).toEqual({ ...before, support_email: 'help@example.com', updated_at: after.updated_at })
  })
})
