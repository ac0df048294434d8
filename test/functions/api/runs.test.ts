import { beforeEach, describe, expect, it } from 'vitest'
import { CounterEntity } from '#shared/foundation/claims/entity.ts'
import { newId } from '#shared/kernel/ids.ts'
import { verifySvc } from '#shared/kernel/signatures.ts'
import { listActiveRuns, markActive } from '#shared/work/runs/chain.ts'
import { runWrite } from '#shared/work/runs/change.ts'
import { ChainMarkEntity, type Run, RunEntity } from '#shared/work/runs/entity.ts'
import { takeSlot } from '#shared/work/runs/slots.ts'
import { callbackToken, installed } from '#testkit/fixtures.ts'
import { type Answer, json, type Receiver } from '#testkit/receiver.ts'
import { usingReceiver } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()
const agent = usingReceiver()
beforeEach(() => {
  platform.clock.advance(3_600_000)
  agent.requests.length = 0
  agent.answer({ kind: 'answer', status: 202 })
})

const setUp = async (options: Parameters<typeof installed>[1] = {}) => {
  const app = await installed(platform.deps, { endpoint: agent.url, ...options })
  const api = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    platform.call(method, `/api/v1${path}`, { token: app.token, body, headers })
  const start = async (body: unknown = { input: { q: 1 } }) => (await api('POST', '/runs', body)).body
  const read = async (id: string) => (await api('GET', `/runs/${id}`)).body
  return { app, api, start, read }
}

describe('POST /runs', () => {
  it('creates a queued run and sends it to the agent, signed', async () => {
    const { app, api, read } = await setUp()
    const created = await api('POST', '/runs', { input: { q: 'hi' }, trigger: 'manual' })
    expect(created.status).toBe(201)
    expect(created.body).toMatchObject({ status: 'queued', input: { q: 'hi' }, trigger: 'manual', finished_at: null })
    await platform.drain()
    const [request] = agent.requests
    expect(agent.requests).toHaveLength(1)
    expect(request?.headers['x-svc-event']).toBe('run.execute')
    const raw = String(request?.body)
    const signature = String(request?.headers['x-svc-signature'])
    expect(verifySvc(app.signingSecret, signature, raw, platform.clock.now() / 1_000)).toBe(true)
    const body = JSON.parse(raw)
    expect(body).toMatchObject({
      type: 'run.execute',
      run: { id: created.body.id, input: { q: 'hi' }, trigger: 'manual' },
      agent: { version: '1.0.0' },
      installation: { id: app.installation.id, workspace_id: app.workspaceId, settings: {} },
      callback: {
        base_url: 'https://platform.test/api/v1',
        mcp_url: 'https://platform.test/mcp',
        expires_in: 900,
      },
      protocol: null,
      actor: null,
      caller: null,
      audience: 'member',
      chain: { depth: 0 },
    })
    expect(await read(created.body.id)).toMatchObject({ status: 'running' })
    const me = await platform.call('GET', '/api/v1/me', { token: body.callback.token })
    expect(me.body.token.type).toBe('callback')
  })

  it('refuses the sixth active run, exactly, under 50 concurrent starts', async () => {
    const { app } = await setUp()
    // A caller's rate limit would allow five starts. The limit on runs is under test here.
    const { startRun } = await import('#shared/work/runs/start.ts')
    const { createWorkerWork } = await import('#shared/http/worker.ts')
    const outcomes = await Promise.allSettled(
      Array.from({ length: 50 }, () =>
        startRun(createWorkerWork(platform.deps), { installation: app.installation, input: {}, trigger: 'api' }),
      ),
    )
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(5)
    const codes = outcomes.flatMap((o) => (o.status === 'rejected' ? [o.reason.code] : []))
    expect(new Set(codes)).toEqual(new Set(['too_many_active_runs']))
  })

  it('accepts another run when one has finished', async () => {
    const { api, start } = await setUp()
    const runs = []
    for (let i = 0; i < 5; i++) runs.push(await start())
    expect((await api('POST', '/runs', {})).body.error.code).toBe('too_many_active_runs')
    await api('POST', `/runs/${runs[0].id}/cancel`)
    expect((await api('POST', '/runs', {})).status).toBe(201)
  })

  it('stores input over 16 KiB in the bucket transparently, and refuses input over 1 MiB', async () => {
    const { api, read } = await setUp()
    const big = 'x'.repeat(100_000)
    const created = await api('POST', '/runs', { input: { big } })
    expect(created.body.input.big === big).toBe(true)
    expect((await read(created.body.id)).input.big === big).toBe(true)
    await platform.drain()
    const sent = agent.requests.map((request) => JSON.parse(String(request.body)).run)
    expect(sent.find((run) => run.id === created.body.id)?.input.big === big).toBe(true)
    const over = await api('POST', '/runs', { input: { big: 'x'.repeat(1_050_000) } })
    expect([over.status, over.body.error.code]).toEqual([413, 'payload_too_large'])
  })

  it('keeps numbers and nesting that a DynamoDB item couldn’t hold', async () => {
    const { start, read } = await setUp()
    let deep: unknown = 1e300
    for (let i = 0; i < 60; i++) deep = { deep }
    const { id } = await start({ input: { deep, empty: '', nothing: null } })
    expect((await read(id)).input).toEqual({ deep, empty: '', nothing: null })
  })
})

describe('the agent’s answer', () => {
  const runAfter = async (answer: Parameters<Receiver['answer']>[0]) => {
    const { start, read } = await setUp()
    agent.answer(answer)
    const { id } = await start()
    await platform.drain()
    return read(id)
  }

  it('finishes the run with output, steps and cost when it is 200 succeeded', async () => {
    const run = await runAfter(
      json({
        status: 'succeeded',
        output: { a: 1 },
        steps: [{ type: 'message', output: { text: 'hi' } }],
        cost_units: 2.5,
      }),
    )
    expect(run).toMatchObject({
      status: 'succeeded',
      output: { a: 1 },
      cost_units: 2.5,
      steps: [{ seq: 1, type: 'message' }],
    })
  })

  it('keeps 120 steps in order', async () => {
    const steps = Array.from({ length: 120 }, (_, n) => ({ type: 'message', output: { n } }))
    const run = await runAfter(json({ status: 'succeeded', output: {}, steps }))
    expect(run.steps.map((step: { output: { n: number } }) => step.output.n)).toEqual(steps.map((_, n) => n))
  })

  it('exposes the agent’s own code and message when it is 200 failed', async () => {
    const run = await runAfter(json({ status: 'failed', error_code: 'no_stock', error_message: 'Sold out.' }))
    expect(run).toMatchObject({ status: 'failed', error_code: 'no_stock', error_message: 'Sold out.' })
  })

  it.each([
    ['not JSON', { kind: 'answer', status: 200, body: 'hello' } as const],
    ['an unknown status', json({ status: 'done' })],
    ['an empty 204', { kind: 'answer', status: 204 } as const],
    ['over 1 MiB', json({ status: 'succeeded', output: { x: 'x'.repeat(1_100_000) } })],
    ['more than 200 steps', json({ status: 'succeeded', steps: Array.from({ length: 201 }, () => ({})) })],
  ])('fails the run with agent_invalid_response when it is %s', async (_what, answer) => {
    expect(await runAfter(answer)).toMatchObject({ status: 'failed', error_code: 'agent_invalid_response' })
  })

  it.each([
    ['a 500', json({ status: 'succeeded' }, 500)],
    ['a redirect', { kind: 'redirect', location: '/elsewhere' } as const],
    ['a reset', { kind: 'reset', when: 'before' } as const],
    ['a 200 that breaks off', { kind: 'reset', when: 'body' } as const],
  ])('fails the run with agent_unreachable after one call when it is %s', async (_what, answer) => {
    const run = await runAfter(answer)
    expect(run).toMatchObject({ status: 'failed', error_code: 'agent_unreachable' })
    expect(run.error_message.length).toBeGreaterThan(10)
    expect(agent.requests).toHaveLength(1)
  })

  it('fails the run with agent_unreachable when the connection was never established', async () => {
    const { start, read } = await setUp({ endpoint: 'http://127.0.0.1:1/' })
    const { id } = await start()
    await platform.drain()
    expect(await read(id)).toMatchObject({ status: 'failed', error_code: 'agent_unreachable' })
  })
})

describe('an agent that answered 202', () => {
  it.each<[what: string, answer: Answer]>([
    ['is cut short', { kind: 'raw', text: 'HTTP/1.1 202 Accepted\r\ncontent-length: 100\r\n\r\n{' }],
    ['ends with the connection', { kind: 'raw', text: 'HTTP/1.0 202 Accepted\r\n\r\nok' }],
    ['is reset', { kind: 'reset', when: 'body', status: 202 }],
    ['is no gzip', { kind: 'answer', status: 202, headers: { 'content-encoding': 'gzip' }, body: 'none' }],
    // Without this, the test would take the full 30 seconds that an agent has to respond.
    ['stays open', { kind: 'drip', status: 202, everyMs: 100 }],
  ])('owns the run, even when the body %s', async (_what, answer) => {
    const { app, start, read } = await setUp()
    agent.answer(answer)
    const { id } = await start()
    await platform.drain()
    expect(await read(id)).toMatchObject({ status: 'running', error_code: null })
    const record = await platform.deps.table.get(RunEntity, { installation_id: app.installation.id, id })
    expect(record?.accepted_at).toBe(platform.clock.now())
    const token = await callbackToken(platform.deps, app, id)
    const body = { status: 'succeeded', output: { ok: true } }
    expect((await platform.call('POST', `/api/v1/runs/${id}/complete`, { token, body })).body.status).toBe('succeeded')
  })

  it('reports steps and completes the run with its callback token', async () => {
    const { app, start, read } = await setUp()
    const { id } = await start()
    await platform.drain()
    const token = await callbackToken(platform.deps, app, id)
    const call = (path: string, body: unknown) => platform.call('POST', `/api/v1/runs/${id}${path}`, { token, body })
    expect((await call('/steps', { output: { text: 'one' } })).body.items[0].seq).toBe(1)
    expect((await call('/steps', { steps: [{ type: 'note' }, { seq: 9 }] })).body.items).toHaveLength(2)
    expect((await call('/steps', { seq: 9 })).body.error.code).toBe('step_write_conflict')
    expect((await call('/complete', { status: 'succeeded', output: { ok: true } })).body.status).toBe('succeeded')
    expect((await read(id)).steps.map((step: { seq: number }) => step.seq)).toEqual([1, 2, 9])
    for (const path of ['/steps', '/complete', '/cancel']) {
      const again = await call(path, path === '/complete' ? { status: 'failed' } : path === '/steps' ? {} : undefined)
      expect(again.body.error.code, path).toBe('run_already_finished')
    }
  })

  it('can report steps concurrently without losing any', async () => {
    const { app, start, read } = await setUp()
    const { id } = await start()
    await platform.drain()
    const token = await callbackToken(platform.deps, app, id)
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, n) =>
        platform.call('POST', `/api/v1/runs/${id}/steps`, { token, body: { output: { n } } }),
      ),
    )
    const written = answers.filter(({ status }) => status === 201)
    expect((await read(id)).steps).toHaveLength(written.length)
    for (const answer of answers) expect([201, 409]).toContain(answer.status)
  })

  it('gets too_many_steps for the 201st step, and keeps the previous 200', async () => {
    const { app, start, read } = await setUp()
    const { id } = await start()
    await platform.drain()
    const token = await callbackToken(platform.deps, app, id)
    const steps = Array.from({ length: 50 }, () => ({ output: {} }))
    for (let i = 0; i < 4; i++) await platform.call('POST', `/api/v1/runs/${id}/steps`, { token, body: { steps } })
    const over = await platform.call('POST', `/api/v1/runs/${id}/steps`, { token, body: {} })
    expect([over.status, over.body.error.code]).toEqual([403, 'too_many_steps'])
    expect((await read(id)).steps).toHaveLength(200)
  })

  it('fails with agent_timeout after an hour of silence, but not while it reports', async () => {
    const { app, start, read } = await setUp()
    const { id } = await start()
    await platform.drain()
    platform.clock.advance(14 * 60_000)
    const token = await callbackToken(platform.deps, app, id)
    await platform.call('POST', `/api/v1/runs/${id}/steps`, { token, body: {} })
    platform.clock.advance(50 * 60_000)
    await platform.sweep()
    expect(await read(id)).toMatchObject({ status: 'running' })
    platform.clock.advance(11 * 60_000)
    await platform.sweep()
    const seen = await platform.call('GET', `/console/runs/${id}`, { token: app.person.token })
    expect(seen.body).toMatchObject({ status: 'failed', error_code: 'agent_timeout' })
  })

  it('can’t report on a queued run, or on another run with a bound token', async () => {
    const { app, api, start } = await setUp()
    const queued = await start()
    expect((await api('POST', `/runs/${queued.id}/complete`, { status: 'succeeded' })).body.error.code).toBe('conflict')
    const other = await start()
    const token = await callbackToken(platform.deps, app, other.id)
    const foreign = await platform.call('POST', `/api/v1/runs/${queued.id}/cancel`, { token })
    expect(foreign.status).toBe(404)
  })

  it('renews its callback token with that token, or with the installation’s access token', async () => {
    const { app, api, start } = await setUp()
    const { id } = await start()
    await platform.drain()
    const token = await callbackToken(platform.deps, app, id)
    const renewed = await platform.call('POST', `/api/v1/runs/${id}/callback-token`, { token })
    expect(renewed.body).toMatchObject({ expires_in: 900 })
    expect(renewed.headers['cache-control']).toBe('no-store')
    const again = await api('POST', `/runs/${id}/callback-token`)
    expect(again.body).toMatchObject({ expires_in: 900 })
    const completed = await platform.call('POST', `/api/v1/runs/${id}/complete`, {
      token: again.body.token,
      body: { status: 'succeeded' },
    })
    expect(completed.status).toBe(200)
    expect((await api('POST', `/runs/${id}/callback-token`)).body.error.code).toBe('run_already_finished')
  })
})

describe('listing and reading runs', () => {
  it('pages newest first, filters by status, and refuses another list’s cursor', async () => {
    const { api, start } = await setUp()
    const ids = []
    for (let i = 0; i < 4; i++) {
      ids.unshift((await start()).id)
      platform.clock.advance(1_000)
    }
    await api('POST', `/runs/${ids[0]}/cancel`)
    const first = await api('GET', '/runs?limit=3')
    expect(first.body).toMatchObject({ has_more: true })
    const rest = await api('GET', `/runs?limit=3&cursor=${first.body.next_cursor}`)
    expect([...first.body.items, ...rest.body.items].map((run) => run.id)).toEqual(ids)
    expect(rest.body).toMatchObject({ has_more: false, next_cursor: null })
    expect((await api('GET', '/runs?status=cancelled')).body.items.map((run: { id: string }) => run.id)).toEqual([
      ids[0],
    ])
    const foreign = await api('GET', `/runs?status=queued&cursor=${first.body.next_cursor}`)
    expect([foreign.status, foreign.body.error.code]).toEqual([400, 'bad_request'])
  })

  it('filters active runs by their own status, though they share a list until they end', async () => {
    const { api, app, start } = await setUp()
    const ids: string[] = []
    for (let i = 0; i < 4; i++) {
      ids.push((await start()).id)
      platform.clock.advance(1_000)
    }
    const { table } = platform.deps
    const installation_id = app.installation.id
    for (const i of [1, 2]) {
      const run = await table.get(RunEntity, { installation_id, id: ids[i] as string })
      await table.transact([runWrite(run as Run, { status: 'running', started_at: platform.clock.now() })])
    }
    const page = async (query: string) => {
      const { body } = await api('GET', `/runs?${query}`)
      return { ids: body.items.map(({ id }: { id: string }) => ids.indexOf(id)), next: body.next_cursor }
    }
    expect((await page('status=running')).ids).toEqual([2, 1])
    expect((await page('status=queued')).ids).toEqual([3, 0])
    const first = await page('status=queued&limit=1')
    expect(first.ids).toEqual([3])
    expect(await page(`status=queued&limit=1&cursor=${first.next}`)).toEqual({ ids: [0], next: null })
    await api('POST', `/runs/${ids[2]}/cancel`)
    expect((await page('status=running')).ids).toEqual([1])
    expect((await page('status=cancelled')).ids).toEqual([2])
  })

  it('ends a run of a chain with its mark, and one that the counter names without', async () => {
    const { api, app, start } = await setUp()
    const { table } = platform.deps
    const installation_id = app.installation.id
    const { id: named } = await start()
    const record = (await table.get(RunEntity, { installation_id, id: named })) as Run
    const marked = { ...record, id: newId('run', platform.clock.now()) }
    Object.assign(marked, { chain_id: marked.id, chain_started_at: marked.created_at })
    await table.transact([RunEntity.create(marked), takeSlot(marked), markActive(marked)])
    expect((await listActiveRuns({ table }, installation_id)).sort()).toEqual([named, marked.id].sort())
    for (const id of [marked.id, named]) expect((await api('POST', `/runs/${id}/cancel`)).status).toBe(200)
    expect(await listActiveRuns({ table }, installation_id)).toEqual([])
    const { items } = await table.query(ChainMarkEntity, { installation_id }, { limit: 10 })
    expect(items.map(({ run_id, ended_at }) => [run_id, ended_at])).toEqual([[marked.id, platform.clock.now()]])
    const counter = await table.get(CounterEntity, { owner: installation_id, counter: 'active_runs' })
    expect(counter).toEqual({
      owner: installation_id,
      counter: 'active_runs',
      n: 0,
      last_id: named,
      last_ended_at: platform.clock.now(),
    })
  })
})

describe('a final answer', () => {
  const big = (letter: string) => ({ text: letter.repeat(20_000) })

  it('that arrived second doesn’t replace the first one’s output, however large they are', async () => {
    const { app, api, start, read } = await setUp()
    const run = await start()
    await platform.drain()
    const { finishIf } = await import('#shared/work/runs/finish.ts')
    const { createWorkerWork } = await import('#shared/http/worker.ts')
    const work = createWorkerWork(platform.deps)
    const complete = () => api('POST', `/runs/${run.id}/complete`, { status: 'succeeded', output: big('a') })
    let won: Awaited<ReturnType<typeof complete>> | undefined
    const objects = Object.create(work.objects, {
      put: {
        // The competing answer arrives between this one's read and write.
        value: async (...args: Parameters<typeof work.objects.put>) => {
          won ??= await complete()
          return work.objects.put(...args)
        },
      },
    })
    const key = { installation_id: app.installation.id, id: run.id }
    await finishIf({ ...work, objects }, key, () => true, { status: 'succeeded', output: big('b') })
    expect(won?.status).toBe(200)
    expect((await read(run.id)).output).toEqual(big('a'))
  })

  it.each([
    { error_code: null, error_message: null },
    { steps: null, cost_units: null },
  ])('by complete may use null for omitted fields: %j', async (nulls) => {
    const { api, start } = await setUp()
    const run = await start()
    await platform.drain()
    const done = await api('POST', `/runs/${run.id}/complete`, { status: 'succeeded', output: { ok: true }, ...nulls })
    expect([done.status, done.body.status, done.body.output]).toEqual([200, 'succeeded', { ok: true }])
  })

  it('by the agent’s response may use null for omitted fields', async () => {
    const { start, read } = await setUp()
    agent.next(json({ status: 'failed', error_code: 'out_of_stock', error_message: null }))
    const withCode = await start()
    await platform.drain()
    expect(await read(withCode.id)).toMatchObject({ status: 'failed', error_code: 'out_of_stock', error_message: '' })
    agent.next(json({ status: 'failed', error_code: null }))
    const withoutCode = await start()
    await platform.drain()
    expect(await read(withoutCode.id)).toMatchObject({ status: 'failed', error_code: 'agent_failed' })
  })
})
