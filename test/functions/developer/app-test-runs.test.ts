import { beforeEach, describe, expect, it } from 'vitest'
import { verifySvc } from '#shared/kernel/signatures.ts'
import type { Write } from '#shared/table/entity.ts'
import { newApp, newDeveloper, publish, type TestApp, type TestDeveloper } from '#testkit/developers.ts'
import type { Answer } from '#testkit/platform.ts'
import { json } from '#testkit/receiver.ts'
import { usingReceiver } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { whileWorking } from '#testkit/while-working.ts'

let developer: TestDeveloper
let app: TestApp

const platform = usingPlatform()
const agent = usingReceiver()
beforeEach(async () => {
  agent.requests.length = 0
  agent.answer(
    json({ status: 'succeeded', output: { answer: 42 }, steps: [{ type: 'message', output: { text: 'hi' } }] }),
  )
  developer = await newDeveloper(platform)
  app = await newApp(developer)
})

const publishAt = (version = '1.0.0') =>
  publish(developer, app, { version, runtime: { type: 'webhook', endpoint: agent.url } })

/** Calls test-run while the platform's workers run. */
const testRun = (body: unknown = { input: { q: 1 } }, headers?: Record<string, string>): Promise<Answer> =>
  whileWorking(platform, developer.call('POST', `/api/v1/dev/apps/${app.id}/test-run`, body, headers))

describe('POST …/test-run', () => {
  it('performs one real, signed run in the sandbox workspace and returns it', async () => {
    await publishAt()
    const { status, body } = await testRun()
    expect(status).toBe(200)
    expect(body).toMatchObject({
      installation_id: expect.stringMatching(/^ins_/),
      workspace_id: developer.workspaceId,
      agent: { version: '1.0.0', runtime_type: 'webhook', endpoint: agent.url },
      run: {
        status: 'succeeded',
        output: { answer: 42 },
        error_code: null,
        steps: [{ seq: 1, output: { text: 'hi' } }],
      },
    })
    const [request] = agent.requests
    const signature = String(request?.headers['x-svc-signature'])
    expect(verifySvc(app.signing_secret, signature, String(request?.body), platform.clock.now() / 1_000)).toBe(true)
    expect(JSON.parse(String(request?.body))).toMatchObject({
      run: { id: body.run.id, input: { q: 1 } },
      installation: { scopes: ['runs:write', 'tools:invoke'], owner: { id: developer.id } },
    })
  })

  it('reaches the agent in the request, without a worker', async () => {
    await publishAt()
    const { body } = await developer.call('POST', `/api/v1/dev/apps/${app.id}/test-run`, { input: {} })
    expect(body.run).toMatchObject({ status: 'succeeded', output: { answer: 42 } })
    expect(agent.requests).toHaveLength(1)
    await platform.drain()
    expect(agent.requests).toHaveLength(1)
  })

  it('answers 200 with the failed run when the agent fails', async () => {
    await publishAt()
    agent.answer(json({ status: 'failed', error_code: 'out_of_stock', error_message: 'Nothing left.' }))
    const { status, body } = await testRun()
    expect([status, body.run.status, body.run.error_code]).toEqual([200, 'failed', 'out_of_stock'])
    agent.answer({ kind: 'answer', status: 500 })
    expect((await testRun()).body.run).toMatchObject({ status: 'failed', error_code: 'agent_unreachable' })
  })

  it('reuses the installation and moves it to the newest manifest each time', async () => {
    await publishAt()
    const first = (await testRun()).body
    await publishAt('1.1.0')
    const second = (await testRun()).body
    expect(second.installation_id).toBe(first.installation_id)
    expect([first.agent.version, second.agent.version]).toEqual(['1.0.0', '1.1.0'])
    expect(JSON.parse(String(agent.requests[1]?.body)).agent.version).toBe('1.1.0')
  })

  it('waits for an agent that answers 202 and completes later', async () => {
    await publishAt()
    agent.answer(async ({ body }) => {
      const { run, callback } = JSON.parse(String(body))
      setTimeout(() => {
        void platform.call('POST', `/api/v1/runs/${run.id}/complete`, {
          token: callback.token,
          body: { status: 'succeeded', output: { late: true } },
        })
      })
      return { kind: 'answer', status: 202 }
    })
    const { status, body } = await testRun()
    expect([status, body.run.status, body.run.output]).toEqual([200, 'succeeded', { late: true }])
  })

  it('answers no_manifest when nothing was published', async () => {
    const { status, body } = await testRun()
    expect([status, body.error.code]).toEqual([409, 'no_manifest'])
  })

  it('allows 6 per minute and developer, then answers 429 with Retry-After', async () => {
    for (let i = 0; i < 6; i++) expect((await testRun()).status).toBe(409)
    const refused = await testRun()
    expect([refused.status, refused.body.error.code]).toEqual([429, 'rate_limited'])
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
    expect(refused.body.error.details).toEqual({ limit_scope: 'developer' })
    platform.clock.advance(Number(refused.headers['retry-after']) * 1_000)
    expect((await testRun()).status).toBe(409)
    const other = await newDeveloper(platform)
    expect((await other.call('POST', `/api/v1/dev/apps/${(await newApp(other)).id}/test-run`, {})).status).toBe(409)
  })

  it('finds the run that a request with the same Idempotency-Key started before it crashed', async () => {
    await publishAt()
    const headers = { 'idempotency-key': 'died' }
    const { table } = platform.deps
    let started = false
    const dying = Object.assign(Object.create(table), {
      async transact(writes: Write[]) {
        if (started) throw new Error('the process crashed')
        await table.transact(writes)
        started = writes.some(({ entity, kind }) => entity.name === 'run' && kind === 'put')
      },
      async get(...args: Parameters<typeof table.get>) {
        if (started) throw new Error('the process crashed')
        return table.get(...args)
      },
    })
    for (const name of ['getAll', 'query', 'change'] as const) dying[name] = table[name].bind(table)
    platform.deps.table = dying
    try {
      const call = developer.call('POST', `/api/v1/dev/apps/${app.id}/test-run`, { input: {} }, headers)
      expect((await call).status).toBe(500)
    } finally {
      platform.deps.table = table
    }
    expect(started).toBe(true)
    platform.clock.advance(200_000)
    // The agent’s answer to the request that crashed is lost.
    await platform.sweep()
    const { status, body } = await testRun({ input: {} }, headers)
    expect([status, body.run.status, body.run.error_code]).toEqual([200, 'failed', 'agent_unreachable'])
    expect(agent.requests).toHaveLength(1)
  })

  it('refuses an input that is over 1 MiB or isn’t an object', async () => {
    await publishAt()
    const large = await testRun({ input: { text: 'x'.repeat(1_048_576) } })
    expect([large.status, large.body.error.code]).toEqual([413, 'payload_too_large'])
    for (const input of [[], 'text', null, 5]) {
      const { status, body } = await testRun({ input })
      expect([status, Object.keys(body.error.details.fields)]).toEqual([422, ['input']])
    }
  })
})

describe('POST …/submit after a test run', () => {
  const complete = {
    summary: 'Short',
    description: 'Long',
    logo_url: 'https://example.com/logo.png',
    privacy_url: 'https://example.com/privacy',
    support_email: 'help@example.com',
  }
  const submit = () => developer.call('POST', `/api/v1/dev/apps/${app.id}/submit`)
  const promote = () => developer.call('POST', `/api/v1/dev/apps/${app.id}/versions/1.0.0/promote`)

  it('submits a complete app for review, once', async () => {
    await publishAt()
    await promote()
    await developer.call('PATCH', `/api/v1/dev/apps/${app.id}`, complete)
    expect((await submit()).body.error.details).toEqual({ missing: ['test_run'] })
    agent.answer(json({ status: 'failed', error_code: 'x', error_message: 'y' }))
    await testRun()
    expect((await submit()).body.error.details).toEqual({ missing: ['test_run'] })
    agent.answer(json({ status: 'succeeded', output: {} }))
    await testRun()
    const { status, body } = await submit()
    expect([status, body.status]).toEqual([200, 'in_review'])
    expect(body.submitted_at).not.toBeNull()
    const again = await submit()
    expect([again.status, again.body.error.code]).toEqual([409, 'conflict'])
  })

  it('counts a test run that succeeded after its request had stopped waiting', async () => {
    await publishAt()
    await promote()
    await developer.call('PATCH', `/api/v1/dev/apps/${app.id}`, complete)
    const { AppEntity } = await import('#shared/catalogue/apps/entity.ts')
    await testRun()
    await platform.deps.table.transact([AppEntity.update({ id: app.id }, { set: { test_run_at: undefined } })])
    expect((await submit()).body.status).toBe('in_review')
  })
})
