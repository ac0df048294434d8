import { setTimeout as pause } from 'node:timers/promises'
import { beforeEach, describe, expect, it } from 'vitest'
import { GrantEntity } from '#shared/access/installations/grant-entity.ts'
import { WorkspaceEntity } from '#shared/identity/people/entity.ts'
import { killAfter } from '#testkit/faults.ts'
import { callbackToken, installed } from '#testkit/fixtures.ts'
import { json } from '#testkit/receiver.ts'
import { usingReceiver } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { whileWorking } from '#testkit/while-working.ts'

const platform = usingPlatform()
const agent = usingReceiver()
beforeEach(() => {
  platform.clock.advance(3_600_000)
  agent.requests.length = 0
  answers({ status: 'succeeded', output: { text: 'Hello' }, steps: [{ type: 'message', output: { n: 1 } }] })
})

const answers = (value: unknown) => agent.answer(json(value))

const setUp = async (options: Parameters<typeof installed>[1] = {}) => {
  const app = await installed(platform.deps, { endpoint: agent.url, ...options })
  const start = (wait: string, { token = app.token, ...headers }: Record<string, string> = {}) =>
    platform.call('POST', `/api/v1/runs?wait=${wait}`, { token, body: { input: { name: 'Ada' } }, headers })
  return { app, start }
}

describe('POST /runs?wait=', () => {
  it('answers with the ended run, its output and its steps', async () => {
    const { app, start } = await setUp()
    const { status, body } = await whileWorking(platform, start('30'))
    expect(status).toBe(201)
    expect(body).toMatchObject({ status: 'succeeded', output: { text: 'Hello' }, steps: [{ output: { n: 1 } }] })
    expect((await platform.call('GET', `/api/v1/runs/${body.id}`, { token: app.token })).body).toEqual(body)
  })

  it('answers with a failed run', async () => {
    answers({ status: 'failed', error_code: 'no_luck' })
    const { start } = await setUp()
    const { status, body } = await whileWorking(platform, start('30'))
    expect([status, body.status, body.error_code]).toEqual([201, 'failed', 'no_luck'])
  })

  it('answers with the active run when the time is up', async () => {
    agent.answer({ kind: 'answer', status: 202 })
    const { start } = await setUp()
    const began = performance.now()
    const { status, body } = await whileWorking(platform, start('1'))
    expect([status, body.status]).toEqual([201, 'running'])
    expect(performance.now() - began).toBeGreaterThanOrEqual(990)
  })

  it.each(['0', '61', '1.5', '-1', 'long', ''])('refuses a wait of "%s", and starts nothing', async (wait) => {
    const { app, start } = await setUp()
    expect((await start(wait)).body.error).toMatchObject({
      code: 'validation_error',
      details: { fields: { wait: expect.anything() } },
    })
    expect((await platform.call('GET', '/api/v1/runs', { token: app.token })).body.items).toEqual([])
  })

  it('gives a repeat with the same Idempotency-Key the same answer, and starts one run', async () => {
    const { app, start } = await setUp()
    const first = await whileWorking(platform, start('30', { 'idempotency-key': 'one' }))
    const again = await start('30', { 'idempotency-key': 'one' })
    expect(again.body).toEqual(first.body)
    expect(again.headers['idempotency-replayed']).toBe('true')
    expect((await platform.call('GET', '/api/v1/runs', { token: app.token })).body.items).toHaveLength(1)
    expect(agent.requests).toHaveLength(1)
  })

  it('gives the answer to a repeat of a request that died while it waited, and starts one run', async () => {
    const { app, start } = await setUp()
    for (let n = 1; ; n++) {
      const headers = { 'idempotency-key': `died-${n}` }
      const death = killAfter(platform, n)
      await start('1', headers)
      const died = death.restore()
      // The lock of the request that died expires.
      platform.clock.advance(181_000)
      const again = await whileWorking(platform, start('30', headers))
      // The last effect stores the answer, which is then the one for the repeat: the run when the first wait was over.
      const stored = again.headers['idempotency-replayed'] === 'true'
      expect([again.status, again.body.status], `after ${n} effects`).toEqual([201, stored ? 'queued' : 'succeeded'])
      expect((await platform.call('GET', '/api/v1/runs', { token: app.token })).body.items).toHaveLength(n)
      if (died) continue
      expect(n).toBeGreaterThan(3)
      return
    }
  })

  it('shows nothing to a caller whose access ends during the wait', async () => {
    agent.answer({ kind: 'answer', status: 202 })
    const { app, start } = await setUp()
    const waiting = start('2')
    await pause(200)
    await platform.deps.table.transact([GrantEntity.update(app.grant, { set: { status: 'revoked' } })])
    expect((await whileWorking(platform, waiting)).status).toBe(401)
  })

  it('shows nothing once an admin bans reading runs during the wait', async () => {
    agent.answer({ kind: 'answer', status: 202 })
    const { app, start } = await setUp()
    const waiting = start('2')
    await pause(200)
    const at = { id: app.workspaceId }
    await platform.deps.table.transact([WorkspaceEntity.update(at, { set: { denied_scopes: ['runs:read'] } })])
    const refused = await whileWorking(platform, waiting)
    expect([refused.status, refused.body.error.code]).toEqual([403, 'scope_denied_by_admin'])
  })

  it('requires the right to read the run', async () => {
    const { app, start } = await setUp()
    agent.answer({ kind: 'answer', status: 202 })
    const { body } = await start('1')
    await platform.drain()
    const token = await callbackToken(platform.deps, app, body.id)
    const refused = await start('1', { token })
    expect([refused.status, refused.body.error.code]).toEqual([403, 'forbidden'])
  })
})
