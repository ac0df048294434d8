import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { GrantEntity } from '#shared/access/grants/entity.ts'
import { AppInstallationEntity, InstallationEntity } from '#shared/access/installations/entity.ts'
import { issueToken } from '#shared/foundation/tokens/tokens.ts'
import { newId } from '#shared/kernel/ids.ts'
import { type Installed, installed, workspace } from '#testkit/fixtures.ts'
import { usingReceiver } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()
const agent = usingReceiver()
beforeEach(() => platform.clock.advance(3_600_000))
afterEach(() => vi.restoreAllMocks())

/** Installs the app in another workspace and returns an access token for it. */
const installElsewhere = async ({ app, installation, grant }: Installed): Promise<string> => {
  const now = platform.clock.now()
  const workspace_id = (await workspace(platform.deps)).id
  const [id, grt] = [newId('installation', now), newId('grant', now)]
  await platform.deps.table.transact([
    InstallationEntity.create({ ...installation, id, workspace_id }),
    AppInstallationEntity.create({ workspace_id, app_id: app.id, installation_id: id }),
    GrantEntity.create({ ...grant, id: grt, installation_id: id, workspace_id }),
  ])
  return (await issueToken(platform.deps, 'access', { ins: id, ws: workspace_id, app: app.id, grt, sv: 1 })).token
}

describe('an app’s bucket', () => {
  it('lets 100 requests of all installations through at once, then 50 a second', async () => {
    const first = await installed(platform.deps)
    const tokens = [first.token]
    for (let i = 0; i < 6; i++) tokens.push(await installElsewhere(first))
    const me = (token: string) => platform.call('GET', '/api/v1/me', { token })

    for (const token of tokens.slice(0, 5)) {
      for (let i = 0; i < 20; i++) expect((await me(token)).status).toBe(200)
    }
    const [, , , , , sixth = '', seventh = ''] = tokens
    const refused = await me(sixth)
    expect([refused.status, refused.body.error.details]).toEqual([429, { limit_scope: 'app' }])
    expect(refused.headers).toMatchObject({
      'retry-after': '1',
      'x-ratelimit-limit': '100',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-policy': '50;burst=100',
    })

    platform.clock.advance(1_000)
    const answers = []
    for (let i = 0; i < 60; i++) answers.push(await me([sixth, seventh, tokens[0] ?? ''][i % 3] ?? ''))
    const passed = answers.filter(({ status }) => status === 200)
    // The first installation has 10 tokens again, the other two 20 each: the refused request cost the sixth nothing.
    expect(passed).toHaveLength(50)
    const scopes = answers.flatMap(({ body }) => body.error?.details.limit_scope ?? [])
    expect(new Set(scopes)).toEqual(new Set(['installation']))
  })
})

describe('an app’s bucket of requests that wait', () => {
  it('lets 75 of all installations through at once, then 5 a second, and no other request is counted', async () => {
    const first = await installed(platform.deps)
    const tokens = [first.token]
    for (let i = 0; i < 5; i++) tokens.push(await installElsewhere(first))
    // An invalid body ends the request before it waits.
    const wait = (token = '') => platform.call('POST', '/api/v1/runs?wait=30', { token, body: { input: 1 } })
    const statuses = async (n: number) => {
      const all = []
      for (let i = 0; i < n; i++) all.push((await wait(tokens[i % tokens.length])).status)
      return { passed: all.filter((status) => status === 422).length, refused: all.filter((one) => one === 429).length }
    }

    expect(await statuses(75)).toEqual({ passed: 75, refused: 0 })
    const { status, body, headers } = await wait(first.token)
    expect([status, body.error.details, headers['retry-after']]).toEqual([429, { limit_scope: 'app' }, '1'])
    expect(body.error.message).toBe(
      'The request exceeds 5 runs that a request waits for per second (burst 75) for this app.',
    )
    expect((await platform.call('POST', '/api/v1/runs', { token: first.token, body: {} })).status).toBe(201)
    platform.clock.advance(1_000)
    expect(await statuses(12)).toEqual({ passed: 5, refused: 7 })
  })
})

describe('an Idempotency-Key', () => {
  const post = (token: string, trigger: string) =>
    platform.call('POST', '/api/v1/runs', { token, body: { trigger }, headers: { 'idempotency-key': 'kept-a-day' } })

  it('repeats its answer for 24 hours, and is a new key after that, also with another body', async () => {
    const { token: old, installation, grant, app, workspaceId: ws } = await installed(platform.deps)
    const first = await post(old, 'first')
    expect(first.status).toBe(201)
    platform.clock.advance(86_400_000 - 1)
    const claims = { ins: installation.id, ws, app: app.id, grt: grant.id, sv: 1 }
    const { token } = await issueToken(platform.deps, 'access', claims)
    const kept = await post(token, 'first')
    expect([kept.headers['idempotency-replayed'], kept.text]).toEqual(['true', first.text])
    expect((await post(token, 'second')).body.error.code).toBe('idempotency_key_reused')

    platform.clock.advance(1)
    const fresh = await post(token, 'second')
    expect([fresh.status, fresh.headers['idempotency-replayed']]).toEqual([201, undefined])
    expect(fresh.body.id).not.toBe(first.body.id)
    expect(fresh.body.trigger).toBe('second')
  })
})

describe('an agent', () => {
  it('has 30 seconds to answer, after which the run fails', async () => {
    const { token } = await installed(platform.deps, { endpoint: agent.url })
    agent.answer({ kind: 'hang' })
    const { http } = platform.deps
    const send = http.send.bind(http)
    const deadlines: number[] = []
    // Waits a hundredth of the deadline that the platform sets.
    vi.spyOn(http, 'send').mockImplementation((request) => {
      if (request.url === agent.url) deadlines.push(request.deadlineMs)
      return send({ ...request, deadlineMs: request.deadlineMs / 100 })
    })
    const { body } = await platform.call('POST', '/api/v1/runs', { token, body: {} })
    await platform.drain()
    const run = (await platform.call('GET', `/api/v1/runs/${body.id}`, { token })).body
    expect(deadlines).toEqual([30_000])
    expect(run).toMatchObject({ status: 'failed', error: { code: 'agent_unreachable' } })
    expect(run.error.docs_url).toBe('https://platform.test/docs#agent_unreachable')
  })
})
