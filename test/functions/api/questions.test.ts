import { beforeEach, describe, expect, it } from 'vitest'
import { CounterEntity } from '#shared/foundation/claims/entity.ts'
import { answerInput } from '#shared/work/questions/index.ts'
import { InputRequestEntity, RunEntity } from '#shared/work/runs/entity.ts'
import { dieAtEach } from '#test/faults/die-at-each.ts'
import { callbackToken, type Installed, installed, member } from '#testkit/fixtures.ts'
import { json, succeeds } from '#testkit/receiver.ts'
import { usingReceiver } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { workOf } from '../console/people-support.ts'

const platform = usingPlatform()
const agent = usingReceiver()
beforeEach(() => {
  platform.clock.advance(3_600_000)
  agent.requests.length = 0
  agent.answer({ kind: 'answer', status: 202 })
})

const HOUR = 3_600_000

const WAREHOUSE = {
  message: 'Which warehouse?',
  schema: {
    type: 'object',
    properties: { name: { type: 'string', enum: ['North', 'South'] }, boxes: { type: 'integer', minimum: 1 } },
    required: ['name'],
  },
}

const accept = (content: object) => ({ action: 'accept', content })

/** Starts a run whose agent may ask. */
const running = async (options: Parameters<typeof installed>[1] = {}, known?: Installed) => {
  const app = known ?? (await installed(platform.deps, { endpoint: agent.url, ...options }))
  const { body: run } = await platform.call('POST', '/api/v1/runs', { token: app.token, body: {} })
  await platform.drain()
  const token = await callbackToken(platform.deps, app, run.id)
  const ask = (input_requests: object, bearer = token) =>
    platform.call('POST', `/api/v1/runs/${run.id}/input-requests`, { token: bearer, body: { input_requests } })
  const answer = (responses: object, bearer = app.person.token) =>
    platform.call('POST', `/console/runs/${run.id}/input`, { token: bearer, body: { responses } })
  const answerByApi = (responses: object, bearer = app.token) =>
    platform.call('POST', `/api/v1/runs/${run.id}/input`, { token: bearer, body: { responses } })
  const read = async () => (await platform.call('GET', `/api/v1/runs/${run.id}`, { token: app.token })).body
  const seen = async () => {
    const person = await member(platform.deps, app.workspaceId, 'member')
    return (await platform.call('GET', `/console/runs/${run.id}`, { token: person.token })).body
  }
  const pending = async (bearer = app.person.token) =>
    (await platform.call('GET', '/console/input-requests', { token: bearer })).body.items
  const events = async () =>
    (await platform.call('GET', '/api/v1/events?types=run.*&limit=100', { token: app.token })).body.items
  const counter = async (name: string) =>
    (await platform.deps.table.get(CounterEntity, { owner: app.installation.id, counter: name }))?.n ?? 0
  const record = () => platform.deps.table.get(RunEntity, { installation_id: app.installation.id, id: run.id })
  return { app, run, token, ask, answer, answerByApi, read, seen, pending, events, counter, record }
}

describe('a question of a run', () => {
  it('leaves the run running, is listed for people, and its answer is in the step and in events', async () => {
    const { app, run, ask, answer, read, pending, events } = await running()
    const asked = await ask({ warehouse: WAREHOUSE })
    expect(asked).toMatchObject({ status: 201, body: { step_id: expect.stringMatching(/^stp_/) } })
    const { step_id } = asked.body
    expect(await read()).toMatchObject({
      status: 'running',
      steps: [
        { id: step_id, type: 'input_request', status: 'pending', output: { input_requests: { warehouse: WAREHOUSE } } },
      ],
    })
    expect(await pending()).toMatchObject([
      { step_id, run_id: run.id, installation_id: app.installation.id, input_requests: { warehouse: WAREHOUSE } },
    ])
    await platform.drain()
    const done = await answer({ warehouse: accept({ name: 'North', boxes: 3 }) })
    expect(done).toMatchObject({ status: 200, body: { id: run.id, status: 'running' } })
    await platform.drain()
    expect((await read()).steps).toMatchObject([
      { status: 'answered', output: { responses: { warehouse: accept({ name: 'North', boxes: 3 }) } } },
    ])
    expect(await pending()).toEqual([])
    const told = (await events()).filter(({ type }: { type: string }) => type.startsWith('run.input'))
    expect(told).toMatchObject([
      { type: 'run.input_required', data: { run_id: run.id, step_id, status: 'running' } },
      { type: 'run.input_received', data: { run_id: run.id, step_id, status: 'running' } },
    ])
  })

  it('keeps partial answers, and ignores unknown and answered keys', async () => {
    const { ask, answer, read, pending } = await running()
    await ask({ one: { message: 'One?' }, two: { message: 'Two?' } })
    await answer({ one: accept({ text: 'first' }), other: accept({ x: 1 }) })
    expect(await pending()).toMatchObject([{ answered: ['one'] }])
    expect((await read()).steps).toMatchObject([{ status: 'pending' }])
    await answer({ one: accept({ text: 'again' }), two: { action: 'decline', content: { ignored: true } } })
    expect((await read()).steps).toMatchObject([
      { status: 'answered', output: { responses: { one: accept({ text: 'first' }), two: { action: 'decline' } } } },
    ])
    expect((await answer({ one: accept({ text: 'late' }) })).status).toBe(200)
  })

  it.each([
    ['no question', {}],
    ['eleven questions', Object.fromEntries(Array.from({ length: 11 }, (_, n) => [`k${n}`, { message: 'x' }]))],
    ['a key with a space', { 'a b': { message: 'x' } }],
    ['a key of 65 characters', { ['k'.repeat(65)]: { message: 'x' } }],
    ['a message over 4,000 characters', { k: { message: 'x'.repeat(4_001) } }],
    ['no message', { k: {} }],
    ['a nested schema', { k: { message: 'x', schema: { type: 'object', properties: { a: { type: 'object' } } } } }],
    [
      'a required field that isn’t described',
      { k: { message: 'x', schema: { type: 'object', properties: {}, required: ['a'] } } },
    ],
    ['a request for an MCP client', { k: { method: 'elicitation/create', params: { message: 'x' } } }],
  ])('with %s is a validation_error', async (_, input_requests) => {
    const { ask, read } = await running()
    expect(await ask(input_requests)).toMatchObject({ status: 422, body: { error: { code: 'validation_error' } } })
    expect((await read()).steps).toEqual([])
  })

  it('takes 10 questions of 4,000 characters each', async () => {
    const { ask, read } = await running()
    const many = Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`k${n}`, { message: 'ä'.repeat(4_000) }]))
    expect((await ask(many)).status).toBe(201)
    expect((await read()).steps[0].output.input_requests).toEqual(many)
  })

  it('uses each key once in a run', async () => {
    const { ask, answer, read } = await running()
    await ask({ one: { message: 'One?' } })
    await answer({ one: accept({ text: 'yes' }) })
    const again = await ask({ one: { message: 'One?' } })
    expect(again).toMatchObject({
      status: 422,
      body: { error: { details: { fields: { 'input_requests.one': [expect.any(String)] } } } },
    })
    expect((await read()).steps).toHaveLength(1)
  })

  it.each([
    ['a missing field', {}, 'name'],
    ['a value that isn’t offered', { name: 'East' }, 'name'],
    ['an unknown field', { name: 'North', more: 1 }, 'more'],
    ['a wrong type', { name: 'North', boxes: '3' }, 'boxes'],
    ['a number below the minimum', { name: 'North', boxes: 0 }, 'boxes'],
  ])('refuses %s', async (_, content, field) => {
    const { ask, answer, pending } = await running()
    await ask({ warehouse: WAREHOUSE })
    const refused = await answer({ warehouse: accept(content) })
    expect(refused.status).toBe(422)
    expect(Object.keys(refused.body.error.details.fields)).toEqual([`responses.warehouse.content.${field}`])
    expect(await pending()).toHaveLength(1)
  })

  it('is answered once when two people answer at the same time', async () => {
    const { app, ask, answer, read } = await running()
    const other = await member(platform.deps, app.workspaceId, 'member')
    await ask({ one: { message: 'One?' } })
    const both = await Promise.all([
      answer({ one: accept({ text: 'a' }) }),
      answer({ one: accept({ text: 'b' }) }, other.token),
    ])
    expect(both.map(({ status }) => status)).toEqual([200, 200])
    const [step] = (await read()).steps
    expect(['a', 'b']).toContain(step.output.responses.one.content.text)
    await platform.drain()
    const { items } = (await platform.call('GET', '/api/v1/events?types=run.input_received', { token: app.token })).body
    expect(items).toHaveLength(1)
  })

  it('isn’t answered by strangers, by former members, or by its own agent', async () => {
    const { app, ask, answer, answerByApi, token, pending } = await running()
    await ask({ one: { message: 'One?' } })
    const other = await installed(platform.deps)
    const yes = { one: accept({ text: 'yes' }) }
    expect((await answer(yes, other.person.token)).status).toBe(404)
    expect((await answerByApi(yes, other.token)).status).toBe(404)
    expect((await ask({ two: { message: 'x' } }, other.token)).status).toBe(404)
    expect(await pending(other.person.token)).toEqual([])
    expect((await answerByApi(yes, token)).body.error.code).toBe('forbidden')
    const leaver = await member(platform.deps, app.workspaceId, 'member')
    const left = await platform.call('DELETE', `/console/members/${leaver.user.id}`, { token: app.person.token })
    expect(left.status).toBeLessThan(300)
    expect((await answer(yes, leaver.token)).status).toBeGreaterThanOrEqual(401)
    expect(await pending()).toHaveLength(1)
    expect((await answerByApi(yes)).status).toBe(200)
    expect(await pending()).toEqual([])
  })

  it('of a run that a person started is answered by people, not by the API', async () => {
    const { app, run, ask, answer, answerByApi } = await running()
    await platform.deps.table.transact([
      RunEntity.update(
        { installation_id: app.installation.id, id: run.id },
        { set: { actor: { id: app.person.user.id, name: 'Ann' } } },
      ),
    ])
    await ask({ one: { message: 'One?' } })
    expect((await answerByApi({ one: accept({}) })).body.error.code).toBe('forbidden')
    expect((await answer({ one: accept({}) })).status).toBe(200)
  })

  it('in somebody’s chat is seen and answered by that person only', async () => {
    const { app, run, ask, answer, pending } = await running()
    const owner = await member(platform.deps, app.workspaceId, 'member')
    const { WorkspaceRunEntity } = await import('#shared/work/runs/entity.ts')
    await platform.deps.table.transact([
      RunEntity.update({ installation_id: app.installation.id, id: run.id }, { set: { private_to: owner.user.id } }),
      WorkspaceRunEntity.update(
        { workspace_id: app.workspaceId, run_id: run.id },
        { set: { private_to: owner.user.id } },
      ),
    ])
    await ask({ one: { message: 'One?' } })
    expect(await pending()).toEqual([])
    expect((await answer({ one: accept({}) })).status).toBe(404)
    expect(await pending(owner.token)).toHaveLength(1)
    expect((await answer({ one: accept({}) }, owner.token)).status).toBe(200)
  })

  it('fails the run with input_timeout after 24 hours, and an hour of silence doesn’t', async () => {
    const { ask, seen, counter } = await running()
    await ask({ one: { message: 'One?' } })
    platform.clock.advance(24 * HOUR - 1_000)
    await platform.sweep()
    expect((await seen()).status).toBe('running')
    platform.clock.advance(2_000)
    await platform.sweep()
    expect(await seen()).toMatchObject({
      status: 'failed',
      error_code: 'input_timeout',
      error: { fix: expect.any(String) },
      steps: [{ status: 'voided' }],
    })
    expect([await counter('active_runs'), await counter('waiting_runs')]).toEqual([0, 0])
  })

  it('over MCP waits 10 minutes, and may be a request for the client', async () => {
    const { app, run, ask, seen } = await running()
    const key = { installation_id: app.installation.id, id: run.id }
    await platform.deps.table.transact([RunEntity.update(key, { set: { protocol: 'mcp' } })])
    expect((await ask({ one: { method: 'roots/list' } })).status).toBe(201)
    const result = { roots: [{ uri: 'file:///home' }], action: 'none' }
    await answerInput(workOf(platform), key, { type: 'user', id: 'usr_1' }, { one: result }, { isClient: true })
    expect((await seen()).steps).toMatchObject([{ status: 'answered', output: { responses: { one: result } } }])
    expect((await ask({ two: { method: 'roots/list' } })).status).toBe(201)
    platform.clock.advance(10 * 60_000 + 1_000)
    await platform.sweep()
    expect(await seen()).toMatchObject({ status: 'failed', error_code: 'input_timeout' })
  })

  it('over MCP that asks for a form is answered by a member in that form, and a client’s method by nobody else', async () => {
    const { app, run, ask, answer, answerByApi, pending, seen } = await running()
    const key = { installation_id: app.installation.id, id: run.id }
    await platform.deps.table.transact([RunEntity.update(key, { set: { protocol: 'mcp' } })])
    const { message, schema } = WAREHOUSE
    const $schema = 'https://json-schema.org/draft/2020-12/schema'
    const model = { method: 'sampling/createMessage', params: { messages: [] } }
    const page = { method: 'elicitation/create', params: { mode: 'url', message, url: 'https://app.example' } }
    const form = { method: 'elicitation/create', params: { message, requestedSchema: { $schema, ...schema } } }
    expect((await ask({ form, model, page })).status).toBe(201)
    const [listed] = await pending()
    expect(listed.input_requests).toEqual({ form: { message, schema }, model, page })
    for (const act of [answer, answerByApi]) {
      for (const name of ['model', 'page']) {
        const refused = await act({ [name]: accept({ role: 'assistant' }) })
        expect([refused.status, refused.body.error.details.fields]).toEqual([
          422,
          { [`responses.${name}`]: ['can be answered only by the client that started the run'] },
        ])
      }
      expect((await act({ form: accept({ name: 'West' }) })).status).toBe(422)
    }
    expect((await answer({ form: accept({ name: 'South' }) })).status).toBe(200)
    expect((await seen()).steps[0]).toMatchObject({
      status: 'pending',
      output: { responses: { form: accept({ name: 'South' }) } },
    })
  })

  it('is voided when the run ends, and then takes no answer', async () => {
    const { run, token, ask, answer, read, pending, counter } = await running()
    await ask({ one: { message: 'One?' } })
    await platform.call('POST', `/api/v1/runs/${run.id}/complete`, { token, body: { status: 'succeeded' } })
    expect((await read()).steps).toMatchObject([{ status: 'voided' }])
    expect((await answer({ one: accept({}) })).body.error.code).toBe('run_already_finished')
    expect(await pending()).toEqual([])
    expect([await counter('active_runs'), await counter('waiting_runs')]).toEqual([0, 0])
  })
})

describe('a waiting run', () => {
  it('leaves the five active places, and comes back only to a free one', async () => {
    const first = await running()
    const others = [await running({}, first.app), await running({}, first.app), await running({}, first.app)]
    others.push(await running({}, first.app))
    const start = () => platform.call('POST', '/api/v1/runs', { token: first.app.token, body: {} })
    expect((await start()).body.error.code).toBe('too_many_active_runs')
    await first.ask({ one: { message: 'One?' } })
    expect([await first.counter('active_runs'), await first.counter('waiting_runs')]).toEqual([4, 1])
    expect((await start()).status).toBe(201)
    expect((await first.answer({ one: accept({}) })).body.error.code).toBe('too_many_active_runs')
    expect(await first.pending()).toHaveLength(1)
    await platform.call('POST', `/api/v1/runs/${others[0]?.run.id}/cancel`, { token: first.app.token })
    expect((await first.answer({ one: accept({}) })).status).toBe(200)
    expect([await first.counter('active_runs'), await first.counter('waiting_runs')]).toEqual([5, 0])
  })

  it('is one of at most 50', async () => {
    const { app, ask, counter } = await running()
    await platform.deps.table.transact([
      CounterEntity.create({ owner: app.installation.id, counter: 'waiting_runs', n: 50 }),
    ])
    expect((await ask({ one: { message: 'One?' } })).body.error.code).toBe('conflict')
    expect(await counter('active_runs')).toBe(1)
  })
})

describe('an agent with runtime.resume', () => {
  const sent = () =>
    agent.requests.map(({ body }) => JSON.parse(String(body))).filter(({ type }) => type === 'run.execute')

  it('asks by answering run.execute, and gets run.execute with all answers once nothing is pending', async () => {
    const input_requests = { one: { message: 'One?' }, two: { message: 'Two?' } }
    agent.answer(json({ status: 'input_required', input_requests }))
    const { read, answer } = await running({ resume: true })
    expect(await read()).toMatchObject({ status: 'running', steps: [{ type: 'input_request', status: 'pending' }] })
    agent.answer(succeeds({ output: { done: true } }))
    await answer({ one: accept({ text: 'a' }) })
    await platform.drain()
    expect(sent()).toHaveLength(1)
    await answer({ two: { action: 'cancel' } })
    await platform.drain()
    expect(sent()).toHaveLength(2)
    const [step] = (await read()).steps
    expect(sent()[1].resume).toEqual({
      step_id: step.id,
      input: { one: accept({ text: 'a' }), two: { action: 'cancel' } },
    })
    expect(await read()).toMatchObject({ status: 'succeeded', output: { done: true } })
  })

  it.each([
    ['without runtime.resume', false, { one: { message: 'One?' } }],
    ['with unusable questions', true, { one: { message: '' } }],
    ['with a request for an MCP client', true, { one: { method: 'roots/list' } }],
  ])('answering input_required %s fails with agent_invalid_response', async (_, resume, input_requests) => {
    agent.answer(json({ status: 'input_required', input_requests }))
    const { read } = await running({ resume })
    expect(await read()).toMatchObject({ status: 'failed', error_code: 'agent_invalid_response' })
  })
})

describe('a run that another agent waits for', () => {
  it('is cancelled when it asks, with the question as the message', async () => {
    const { app, run, ask, read } = await running()
    await platform.deps.table.transact([
      RunEntity.update(
        { installation_id: app.installation.id, id: run.id },
        { set: { tool: 'count', chain_deadline: platform.clock.now() + HOUR } },
      ),
    ])
    expect((await ask({ one: { message: 'Which shelf?' } })).body.error.code).toBe('run_already_finished')
    expect(await read()).toMatchObject({
      status: 'cancelled',
      error_code: 'input_required',
      error_message: 'Which shelf?',
      steps: [],
    })
  })
})

describe('ask_user in a run without a task', () => {
  it('is a question whose answer is the step’s result', async () => {
    const { app, token, read, answer, pending, events } = await running()
    const { body } = await platform.call('POST', '/api/v1/tools/ask_user/invoke', {
      token,
      body: { arguments: { question: 'Which bank?' } },
    })
    const { step_id, key } = body.result
    expect(body).toEqual({ status: 'ok', result: { asked: true, task_id: null, step_id, key } })
    expect(await pending()).toMatchObject([
      { step_id, input_requests: { [key]: { message: 'Which bank?', schema: { required: ['answer'] } } } },
    ])
    await platform.drain()
    const told = await platform.call('GET', '/console/notifications', { token: app.person.token })
    expect(told.body.items).toMatchObject([{ kind: 'agent.question', body: 'Which bank?' }])
    await answer({ [key]: accept({ answer: 'The blue one' }) })
    await platform.drain()
    expect((await read()).steps).toMatchObject([
      {
        id: step_id,
        tool: 'ask_user',
        status: 'answered',
        output: { result: { action: 'accept', answer: 'The blue one' } },
      },
    ])
    expect((await events()).map(({ type }: { type: string }) => type)).toContain('run.input_received')
  })
})

describe('killed at any effect', () => {
  const questions = async (id: string) =>
    (await platform.deps.table.query(InputRequestEntity, { run_id: id }, { limit: 10 })).items

  it('asking by run.execute and answering leave one question, one answer and exact places', async () => {
    await dieAtEach(platform, { limit: 40, counted: 'effects', least: 7 }, async (n, dying) => {
      platform.clock.advance(2 * HOUR)
      agent.requests.length = 0
      agent.answer(json({ status: 'input_required', input_requests: { one: { message: 'One?' } } }))
      const app = await installed(platform.deps, { endpoint: agent.url, resume: true })
      const { body: run } = await platform.call('POST', '/api/v1/runs', { token: app.token, body: {} })
      const answer = () =>
        platform.call('POST', `/console/runs/${run.id}/input`, {
          token: app.person.token,
          body: { responses: { one: accept({ text: 'yes' }) } },
        })
      await dying(platform.drain, async () => agent.answer(succeeds()), answer, platform.drain)
      for (let round = 0; round < 3; round++) {
        await platform.drain()
        await answer()
        platform.clock.advance(61_000)
        await platform.sweep()
      }
      platform.clock.advance(HOUR)
      await platform.sweep()
      await platform.drain()
      const record = await platform.deps.table.get(RunEntity, { installation_id: app.installation.id, id: run.id })
      expect(record?.finished_at, `killed after effect ${n}`).toBeDefined()
      expect((await questions(run.id)).length, `killed after effect ${n}`).toBeLessThanOrEqual(1)
      for (const counter of ['active_runs', 'waiting_runs']) {
        const kept = await platform.deps.table.get(CounterEntity, { owner: app.installation.id, counter })
        expect(kept?.n ?? 0, `${counter} after effect ${n}`).toBe(0)
      }
    })
  })
})
