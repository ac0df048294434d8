import { beforeEach, describe, expect, it } from 'vitest'
import { InstallationEntity } from '#shared/access/installations/entity.ts'
import { RunExchangeEntity } from '#shared/agents/exchanges/entity.ts'
import { WorkspaceEntity } from '#shared/identity/people/entity.ts'
import { newApp, newDeveloper, publish, type TestApp, type TestDeveloper } from '#testkit/developers.ts'
import { installed } from '#testkit/fixtures.ts'
import { usingReceiver } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()
const agent = usingReceiver()
let developer: TestDeveloper
let app: TestApp
beforeEach(async () => {
  platform.clock.advance(60_000)
  agent.requests.length = 0
  developer = await newDeveloper(platform)
  app = await newApp(developer)
})

const answers = (body: string, status = 200) =>
  agent.answer({
    kind: 'answer',
    status,
    headers: { 'content-type': 'application/json', 'x-agent': 'yes', 'set-cookie': 'session=1' },
    body,
  })

const testRun = async () => {
  await publish(developer, app, { runtime: { type: 'webhook', endpoint: agent.url } })
  const { body: sandbox } = await developer.call('POST', `/api/v1/dev/apps/${app.id}/sandbox-token`)
  const token = sandbox.access_token
  const { body } = await platform.call('POST', '/api/v1/runs', { token, body: { input: { q: 'Häuser?' } } })
  await platform.drain()
  return body as { id: string }
}

const exchanges = (run: { id: string }, by = developer) =>
  by.call('GET', `/api/v1/dev/apps/${app.id}/runs/${run.id}/exchanges`)

describe('GET …/runs/{run}/exchanges', () => {
  it('shows request and response of a run in the sandbox, without the callback token', async () => {
    answers('{"status":"succeeded","output":{"text":"Four."}}')
    const run = await testRun()
    const { status, body, text } = await exchanges(run)
    expect(status).toBe(200)
    expect(body.items).toHaveLength(1)
    const [{ request, response, ...about }] = body.items
    expect(about).toMatchObject({ run_id: run.id, attempt: 1, error: null, hint: null })
    expect(request.url).toBe(agent.url)
    const sent = agent.requests[0]
    expect(request.headers['x-svc-signature']).toBe(sent?.headers['x-svc-signature'])
    expect(request.headers['webhook-id']).toBe(run.id)
    const { callback, ...rest } = JSON.parse(request.body)
    expect(rest).toMatchObject({ type: 'run.execute', run: { id: run.id, input: { q: 'Häuser?' } } })
    expect(callback.token).toBe('(not shown)')
    const { token } = JSON.parse(String(sent?.body)).callback
    expect(text).not.toContain(token)
    expect(response).toMatchObject({ status: 200, body: '{"status":"succeeded","output":{"text":"Four."}}' })
    expect(response.headers['x-agent']).toBe('yes')
    expect(response.headers['set-cookie']).toBeUndefined()
  })

  it('cuts long bodies, and says why there was no response', async () => {
    answers(JSON.stringify({ status: 'succeeded', output: { text: 'x'.repeat(40_000) } }))
    const [long] = (await exchanges(await testRun())).body.items
    expect([long.response.body.length, long.response.truncated]).toEqual([16_384, true])
    app = await newApp(developer)
    agent.answer({ kind: 'reset', when: 'before' })
    const [none] = (await exchanges(await testRun())).body.items
    expect([none.response, typeof none.error, typeof none.hint]).toEqual([null, 'string', 'string'])
  })

  it('is not found for another app’s run', async () => {
    answers('{"status":"succeeded","output":{}}')
    const run = await testRun()
    const other = await newApp(developer)
    const { status } = await developer.call('GET', `/api/v1/dev/apps/${other.id}/runs/${run.id}/exchanges`)
    expect(status).toBe(404)
  })

  it('stores nothing of a customer’s run, nor of one in another developer’s sandbox', async () => {
    answers('{"status":"succeeded","output":{}}')
    const places = [
      await installed(platform.deps, { endpoint: agent.url }),
      await installed(platform.deps, { endpoint: agent.url }),
    ]
    const [, second] = places
    const workspace_id = second?.workspaceId ?? ''
    await platform.deps.table.transact([
      InstallationEntity.update({ workspace_id, id: second?.installation.id ?? '' }, { set: { is_sandbox: true } }),
      WorkspaceEntity.update({ id: workspace_id }, { set: { is_sandbox: true, developer_id: 'dev_another' } }),
    ])
    for (const { token } of places) {
      const { body: run } = await platform.call('POST', '/api/v1/runs', { token, body: { input: { secret: 1 } } })
      await platform.drain()
      const { items } = await platform.deps.table.query(RunExchangeEntity, { run_id: run.id }, { limit: 10 })
      expect(items).toEqual([])
    }
    expect(agent.requests).toHaveLength(2)
  })
})
