import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { RunEntity } from '#shared/work/runs/entity.ts'
import { dieAtEach, recover } from '#test/faults/die-at-each.ts'
import { callbackToken, installed, member } from '#testkit/fixtures.ts'
import { DEEP } from '#testkit/sampling.ts'
import { usingReceiver } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { ACCEPT, type Execute, Raw, succeedsWith, usingAgents } from '../api/agents-support.ts'
import { createClient, declaring, messagesOf, STREAMING, TASKS } from './mcp-support.ts'

const platform = usingPlatform({ RESPONSE_MODE: 'stream' })
const agents = usingAgents(platform)
const page = usingReceiver()

const HOUR = 3_600_000
const TASK = { meta: declaring({ elicitation: {} }, true) }
const tool = (mcp: object = {}) => [{ name: 'look', input_schema: {}, mcp }]

/** A caller, an agent whose tool it calls, and that agent's own server. */
const scene = async (agent: Parameters<typeof agents.agent>[0] = {}) => {
  platform.clock.advance(2 * HOUR)
  const [caller, target] = await agents.team({}, agent)
  const client = createClient(platform, caller.token)
  const path = `/mcp/agents/${target.slug}`
  type More = Parameters<typeof client.modern>[2]
  const call = (more: More = {}, params: object = {}) =>
    client.modern('tools/call', { name: 'look', ...params }, { path, ...more })
  /** Calls without running the workers, which is what a call that isn't a task does for itself. */
  const task = (method: string, taskId: string, params: object = {}, more: More = TASK) =>
    client.modern(`tasks/${method}`, { taskId, ...params }, { path, ...more })
  return { caller, target, client, call, task, path }
}

const QUESTION = {
  message: 'Which warehouse?',
  schema: { type: 'object', properties: { name: { type: 'string', enum: ['North', 'South'] } }, required: ['name'] },
}
const asks = (input_requests: object) => ({ status: 'input_required', input_requests })
const accept = (content: object) => ({ action: 'accept', content })

/** Asks once, and answers with what it was told. */
const asksOnce =
  (questions: object = { warehouse: QUESTION }) =>
  ({ resume }: Execute) =>
    resume ? { status: 'succeeded', output: { told: resume.input } } : asks(questions)

describe('a call of an agent that the caller isn’t offered', () => {
  it('is audited with the reason, which the answer doesn’t tell, and reaches nobody', async () => {
    const { caller, target, client, call } = await scene({ tools: tool() })
    const name = `${target.slug}__look`
    const noTool = async (named: string) => {
      platform.clock.advance(1)
      const { body } = await client.modern('tools/call', { name: named })
      return body.error
    }
    const audited = async () =>
      (await agents.audit(caller.workspaceId)).map(({ action, details: { reason, policy, tool: asked } }) => [
        action,
        reason,
        policy,
        asked,
      ])
    await target.set({ allowed_callers: [] })
    expect(await noTool(name)).toEqual({ code: -32_602, message: `There is no tool ${name}. Call tools/list.` })
    const denied = ['agent.call_denied', 'tool_denied', 'agent_policy', 'look']
    expect(await audited()).toEqual([denied])
    platform.clock.advance(1)
    expect((await call()).status, 'at the address of the agent').toBe(404)
    expect(await audited()).toEqual([denied, denied])
    await target.set({ allowed_callers: null })
    expect((await noTool(`${target.slug}__other`)).code).toBe(-32_602)
    expect((await noTool('nobody__look')).code).toBe(-32_602)
    expect((await noTool('nothing')).code, 'no agent’s tool').toBe(-32_602)
    expect((await audited()).slice(2)).toEqual([
      ['agent.call_denied', 'tool_not_offered', undefined, 'other'],
      ['agent.call_denied', 'unknown_agent', undefined, 'look'],
    ])
    expect(await agents.runsOf(target)).toEqual([])
    expect((await client.modern('tools/call', { name })).body.result.isError).toBe(false)
  })
})

describe('a call as a task', () => {
  it('is the agent’s run, which only its caller can read, from the start to the result', async () => {
    const { call, task, caller, client } = await scene({ tools: tool({ task: 'always' }) })
    const { body } = await call(TASK)
    expect(body.result).toMatchObject({
      resultType: 'task',
      taskId: expect.stringMatching(/^run_/),
      status: 'working',
      ttlMs: 90_000_000,
      pollIntervalMs: 2_000,
    })
    const { taskId } = body.result
    expect((await task('get', taskId)).body.result).toMatchObject({ resultType: 'complete', taskId, status: 'working' })
    await platform.drain()
    expect(agents.received.at(-1)).toMatchObject({ protocol: 'mcp', client_capabilities: { elicitation: {} } })
    expect((await agents.runOf(caller.workspaceId, taskId)).trigger).toBe('mcp')
    const done = (await task('get', taskId)).body.result
    expect(done).toMatchObject({
      status: 'completed',
      result: {
        isError: false,
        structuredContent: { ok: true },
        _meta: { 'aip/untrusted': true, 'aip/run_id': taskId },
      },
    })
    const stranger = await installed(platform.deps, { workspaceId: caller.workspaceId })
    const own = await agents.running(caller)
    for (const token of [stranger.token, own.token])
      for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel'])
        expect((await client.modern(method, { taskId, inputResponses: {} }, { ...TASK, token })).body.error.code).toBe(
          -32_602,
        )
    expect((await task('get', 'run_unknown')).body.error.code).toBe(-32_602)
  })

  it('is made after 5 seconds, and never for a client that doesn’t follow tasks or a tool that refuses', async () => {
    const { call, task, target } = await scene({ behaviour: () => ACCEPT })
    const [slow] = await agents.whileWorking(() => Promise.all([call(TASK)]))
    expect(slow?.body.result.resultType).toBe('task')
    const { callback, run } = agents.received.at(-1)
    await platform.call('POST', `/api/v1/runs/${run.id}/complete`, {
      token: callback.token,
      body: { status: 'succeeded', output: { n: 1 } },
    })
    expect((await task('get', run.id)).body.result).toMatchObject({ result: { structuredContent: { n: 1 } } })
    target.behaves(succeedsWith({ quick: true }))
    expect((await call()).body.result).toMatchObject({ resultType: 'complete', structuredContent: { quick: true } })
    const refuses = await scene({ tools: tool({ task: 'never' }) })
    expect((await refuses.call(TASK)).body.result.resultType).toBe('complete')
  })

  it('is completed also by an agent that fails or is broken, failed by an internal error, and can be cancelled', async () => {
    const { call, task, target } = await scene({ tools: tool({ task: 'always' }) })
    const endOf = async (answer: unknown) => {
      target.behaves(() => answer)
      const { taskId } = (await call(TASK)).body.result
      await platform.drain()
      return (await task('get', taskId)).body.result
    }
    expect(await endOf({ status: 'failed', error_code: 'no_stock', error_message: 'None left.' })).toMatchObject({
      status: 'completed',
      result: { isError: true, structuredContent: { error_code: 'no_stock' } },
    })
    expect(await endOf(new Raw({ kind: 'answer', status: 500 }))).toMatchObject({
      status: 'completed',
      result: { isError: true, structuredContent: { error_code: 'agent_unreachable' } },
    })
    expect(await endOf({ status: 'failed', error_code: 'internal_error', error_message: 'Oops.' })).toMatchObject({
      status: 'failed',
      error: { code: -32_603, message: 'Oops.', data: { error_code: 'internal_error' } },
    })
    target.behaves(() => ACCEPT)
    const { taskId } = (await call(TASK)).body.result
    await platform.drain()
    expect((await task('cancel', taskId)).body.result).toEqual({ resultType: 'complete', _meta: expect.anything() })
    expect((await task('get', taskId)).body.result.status).toBe('cancelled')
    expect((await task('cancel', taskId)).status).toBe(200)
  })

  it('has questions that are answered one by one, and then continues', async () => {
    const questions = { one: QUESTION, two: { message: 'Two?' } }
    const { call, task } = await scene({
      resume: true,
      tools: tool({ task: 'always' }),
      behaviour: asksOnce(questions),
    })
    const { taskId } = (await call(TASK)).body.result
    await platform.drain()
    const asked = (await task('get', taskId)).body.result
    expect(asked).toMatchObject({
      status: 'input_required',
      inputRequests: {
        one: {
          method: 'elicitation/create',
          params: { message: 'Which warehouse?', requestedSchema: { required: ['name'] } },
        },
        two: { method: 'elicitation/create' },
      },
    })
    const update = (inputResponses: object) => task('update', taskId, { inputResponses })
    expect((await update({ one: accept({ name: 'West' }) })).body.result ?? 'refused').toBe('refused')
    await update({ one: accept({ name: 'North' }), other: {} })
    expect(Object.keys((await task('get', taskId)).body.result.inputRequests)).toEqual(['two'])
    await update({ two: { action: 'decline' } })
    await platform.drain()
    expect((await task('get', taskId)).body.result).toMatchObject({
      status: 'completed',
      result: { structuredContent: { told: { one: accept({ name: 'North' }), two: { action: 'decline' } } } },
    })
  })

  it('needs a client that follows tasks, and what a tool requires', async () => {
    const { call, task } = await scene({ tools: tool({ requires: ['sampling', 'tasks'] }) })
    const lacking = await call({ meta: declaring({ elicitation: {} }) })
    expect([lacking.status, lacking.body.error]).toMatchObject([
      400,
      { code: -32_021, data: { requiredCapabilities: { sampling: {}, extensions: { [TASKS]: {} } } } },
    ])
    expect((await task('get', 'run_x', {}, {})).body.error).toMatchObject({
      code: -32_021,
      data: { requiredCapabilities: { extensions: { [TASKS]: {} } } },
    })
    const able = await agents.whileWorking(() => call({ meta: declaring({ sampling: {} }, true) }))
    expect(able.body.result.resultType).toBe('complete')
  })

  it('is a person’s decision for a dangerous tool: 20 hours later it reaches the client, and nothing here decides it', async () => {
    const { caller, client } = await scene()
    const { run } = await agents.running(caller)
    const token = () => callbackToken(platform.deps, caller, run.id)
    const params = { name: 'http_fetch', arguments: { url: `${agents.receiver.url}/page` } }
    const made = await client.modern('tools/call', params, { ...TASK, token: await token() })
    expect(made.body.result).toMatchObject({ resultType: 'task', status: 'working', pollIntervalMs: 5_000 })
    const { taskId } = made.body.result
    expect(taskId).toMatch(/^stp_/)
    const ask = async (method: string, more: object = {}) =>
      client.modern(`tasks/${method}`, { taskId, ...more }, { ...TASK, token: await token() })
    await ask('update', { inputResponses: { approve: accept({}), decision: accept({ decision: 'approve' }) } })
    await ask('cancel')
    platform.clock.advance(20 * HOUR)
    expect((await ask('get')).body.result).toMatchObject({
      status: 'working',
      statusMessage: expect.stringContaining('person'),
    })
    const person = await member(platform.deps, caller.workspaceId, 'member')
    await platform.call('POST', `/console/runs/${run.id}/steps/${taskId}/decision`, {
      token: person.token,
      body: { decision: 'approve' },
    })
    await platform.drain()
    for (let n = 0; n < 2; n++) {
      expect((await ask('get')).body.result).toMatchObject({
        status: 'completed',
        result: {
          isError: false,
          structuredContent: { url: params.arguments.url },
          _meta: { 'aip/receipt': expect.any(String) },
        },
      })
    }
    const repeated = await client.modern('tools/call', params, { ...TASK, token: await token() })
    expect(repeated.body.result.taskId).not.toBe(taskId)
  })
})

describe('a question to the client', () => {
  const ELICITS = { meta: declaring({ elicitation: {} }) }

  it('is the result of the call, which continues when the call is repeated with its state and the answers', async () => {
    const { call, target } = await scene({ resume: true, behaviour: asksOnce() })
    const asked = (await call(ELICITS)).body.result
    expect(asked).toMatchObject({
      resultType: 'input_required',
      inputRequests: { warehouse: { method: 'elicitation/create' } },
      requestState: expect.any(String),
    })
    const { requestState } = asked
    const again = (await call(ELICITS, { requestState, inputResponses: { other: accept({}) } })).body.result
    expect(again).toMatchObject({ resultType: 'input_required', inputRequests: { warehouse: {} } })
    const inputResponses = { warehouse: accept({ name: 'South' }) }
    const done = await call(ELICITS, { requestState: again.requestState, inputResponses })
    expect(done.body.result).toMatchObject({ resultType: 'complete', structuredContent: { told: inputResponses } })
    expect(await agents.runsOf(target)).toHaveLength(1)
    // Two answers to one question: the first stays.
    const late = await call(ELICITS, { requestState, inputResponses: { warehouse: accept({ name: 'North' }) } })
    expect(late.body.result.structuredContent).toEqual({ told: inputResponses })
  })

  it('is bound to its caller, its call and 10 minutes; answers without it belong to a call of their own', async () => {
    const { call, caller, target } = await scene({ resume: true, behaviour: asksOnce() })
    const { requestState } = (await call(ELICITS)).body.result
    const inputResponses = { warehouse: accept({ name: 'South' }) }
    const stranger = await installed(platform.deps, { workspaceId: caller.workspaceId })
    const codeOf = async (...sent: Parameters<typeof call>) => (await call(...sent)).body.error?.code
    expect(await codeOf(ELICITS, { requestState: `${requestState}x`, inputResponses })).toBe(-32_602)
    expect(await codeOf({ ...ELICITS, token: stranger.token }, { requestState, inputResponses })).toBe(-32_602)
    expect(await codeOf(ELICITS, { requestState, inputResponses, arguments: { other: 1 } })).toBe(-32_602)
    expect(await codeOf(ELICITS, { requestState: 7, inputResponses })).toBe(-32_602)
    for (const malformed of [null, [], { warehouse: 7 }])
      expect(await codeOf(ELICITS, { requestState, inputResponses: malformed })).toBe(-32_602)
    const fresh = await call(ELICITS, { inputResponses: { ...inputResponses, other: accept({}) } })
    expect(fresh.body.result.structuredContent).toEqual({ told: inputResponses })
    expect(await agents.runsOf(target)).toHaveLength(2)
    platform.clock.advance(10 * 60_000)
    expect(await codeOf(ELICITS, { requestState, inputResponses })).toBe(-32_602)
  })

  it('leaves out what the client can’t do; with nothing left the call is refused and the run ends', async () => {
    const mixed = { form: QUESTION, model: { method: 'sampling/createMessage', params: { messages: [] } } }
    const { call, target, client, path } = await scene({ resume: true, behaviour: asksOnce(mixed) })
    const asked = (await call({ meta: declaring({ sampling: {} }) })).body.result
    expect(Object.keys(asked.inputRequests)).toEqual(['model'])
    const none = await call({ meta: declaring({ roots: {} }) })
    expect([none.status, none.body.error]).toMatchObject([
      400,
      { code: -32_021, data: { requiredCapabilities: { elicitation: {}, sampling: {} } } },
    ])
    // The question, and the place where a person can answer it.
    expect(none.body.error.message).toMatch(
      /elicitation, sampling.*clientCapabilities.*“Which warehouse\?”.*\/app#\/runs\/run_/,
    )
    const statuses = async () => (await agents.runsOf(target)).map(({ status }) => status).sort()
    expect(await statuses()).toEqual(['cancelled', 'running'])
    const old = await client.legacy('tools/call', { name: 'look' }, { path, headers: STREAMING })
    const { result } = messagesOf(old.text).at(-1) ?? old.body
    expect(result).toMatchObject({ isError: true, structuredContent: { error_code: 'input_required' } })
    expect(result.content[0].text).toMatch(/initialize.*“Which warehouse\?”.*\/app#\/runs\/run_/)
    expect(await statuses()).toEqual(['cancelled', 'cancelled', 'running'])
  })

  const sampling = (more: object = {}) => ({
    model: { method: 'sampling/createMessage', params: { messages: [], ...more } },
  })
  const page = {
    page: { method: 'elicitation/create', params: { mode: 'url', url: 'https://a.example', message: 'Open?' } },
  }
  const form = { form: QUESTION }
  it.each([
    [
      'a form',
      form,
      [{}, { form: {} }, { form: {}, url: {} }].map((elicitation) => ({ elicitation })),
      [{ elicitation: { url: {} } }],
    ],
    [
      'a page',
      page,
      [{ elicitation: { url: {} } }, { elicitation: { form: {}, url: {} } }],
      [{ elicitation: {} }, { elicitation: { form: {} } }],
    ],
    ['a request to a model', sampling(), [{ sampling: {} }, { sampling: { tools: {} } }], [{ elicitation: {} }]],
    [
      'a model with tools',
      sampling({ tools: [] }),
      [{ sampling: { tools: {} } }],
      [{ sampling: {} }, { sampling: { context: {} } }],
    ],
    ['a model’s choice of tools', sampling({ toolChoice: {} }), [{ sampling: { tools: {} } }], [{ sampling: {} }]],
  ])(
    'that is %s goes to clients that declared it, in both lanes, and to no others',
    async (_what, questions, able, unable) => {
      const [name = ''] = Object.keys(questions)
      for (const [capabilities, isAble] of [
        ...able.map((one) => [one, true] as const),
        ...unable.map((one) => [one, false] as const),
      ]) {
        const { call, client, path } = await scene({ resume: true, behaviour: asksOnce(questions) })
        const modern = (await call({ meta: declaring(capabilities) })).body
        expect(Object.keys(modern.result?.inputRequests ?? {}), JSON.stringify(capabilities)).toEqual(
          isAble ? [name] : [],
        )
        const hello = { protocolVersion: '2025-11-25', capabilities, clientInfo: { name: 'x', version: '1' } }
        const begun = await client.legacy('initialize', hello, { path })
        const headers = { ...STREAMING, 'mcp-session-id': begun.headers['mcp-session-id'] as string }
        const from = platform.streamed.length
        const answer = client.legacy('tools/call', { name: 'look' }, { path, headers, id: 7 })
        const over = answer.then(() => 'over')
        const asked = () =>
          platform.streamed
            .slice(from)
            .flatMap(messagesOf)
            .find(({ id }) => String(id).endsWith(`:${name}`))
        while (!asked() && (await Promise.race([over, pause(10)])) !== 'over');
        expect(asked() !== undefined, JSON.stringify(capabilities)).toBe(isAble)
        if (isAble) await client.post({ jsonrpc: '2.0', id: asked().id, result: { action: 'decline' } }, { path })
        const { text, body } = await answer
        expect((messagesOf(text).at(-1) ?? body).result.isError).toBe(!isAble)
      }
    },
  )

  it('goes to clients of the older versions as a request on the call’s stream, which only they answer', async () => {
    const { client, path, caller, target } = await scene({ resume: true, behaviour: asksOnce() })
    const begun = await client.legacy(
      'initialize',
      { protocolVersion: '2025-11-25', capabilities: { elicitation: {} }, clientInfo: { name: 'x', version: '1' } },
      { path },
    )
    const headers = { ...STREAMING, 'mcp-session-id': begun.headers['mcp-session-id'] as string }
    const from = platform.streamed.length
    const answer = client.legacy('tools/call', { name: 'look' }, { path, headers, id: 7 })
    const run = async () => (await agents.runsOf(target))[0]
    const asked = () =>
      platform.streamed
        .slice(from)
        .flatMap(messagesOf)
        .find(({ method }) => method === 'elicitation/create')
    while (!asked()) await pause(20)
    const id = `${(await run())?.id}:warehouse`
    const respond = (token: string, name: string) =>
      client.post({ jsonrpc: '2.0', id, result: accept({ name }) }, { path, headers: {}, token })
    const stranger = await installed(platform.deps, { workspaceId: caller.workspaceId })
    expect((await respond(stranger.token, 'North')).status).toBe(202)
    // A caller that may no longer ask agents doesn't answer them either.
    await caller.set({ denied_tools: ['ask_agent'] })
    expect((await respond(caller.token, 'North')).status).toBe(403)
    await caller.set({ denied_tools: [] })
    expect((await respond(caller.token, 'South')).status).toBe(202)
    const [request, result] = messagesOf((await answer).text)
    expect(request).toMatchObject({ id, method: 'elicitation/create', params: { message: 'Which warehouse?' } })
    expect(result).toMatchObject({
      id: 7,
      result: { structuredContent: { told: { warehouse: accept({ name: 'South' }) } } },
    })
  })
})

describe('a call that is followed', () => {
  /** Reports steps, waits until they can have been seen, and succeeds. */
  const reports =
    (...steps: object[]) =>
    async ({ run, callback }: Execute) => {
      const post = (resource: string, body: object) =>
        platform.call('POST', `/api/v1/runs/${run.id}/${resource}`, { token: callback.token, body })
      await post('steps', { steps })
      return { status: 'succeeded', output: { done: true } }
    }
  const step = (type: string, output: object) => ({ type, output })

  it('waits for the agent until the chain’s 120 seconds are over, and is then cancelled', async () => {
    const { call, target } = await scene({ behaviour: () => ACCEPT, tools: tool() })
    let isAnswered = false
    const before = agents.received.length
    const answer = call().finally(() => {
      isAnswered = true
    })
    while (agents.received.length === before) await pause(20)
    platform.clock.advance(118_000)
    // Longer than the longest pause between two looks at the run.
    await pause(500)
    expect(isAnswered).toBe(false)
    platform.clock.advance(3_000)
    const { isError, structuredContent } = (await answer).body.result
    expect([isError, structuredContent.error.code]).toEqual([true, 'chain_budget_exceeded'])
    expect((await agents.runsOf(target)).map(({ status }) => status)).toEqual(['cancelled'])
  })

  it('reports progress and logs to clients that ask for them', async () => {
    const steps = [
      step('progress', { progress: 1, total: 4, message: 'Reading\u202E' }),
      step('message', { text: 'Halfway' }),
      step('progress', { progress: 1 }),
      step('log', { level: 'debug', data: 'quiet' }),
      step('log', { level: 'warning', data: { left: 3 }, logger: 'stock' }),
    ]
    const { call, client, path } = await scene({ behaviour: reports(...steps) })
    const meta = { progressToken: 'p1', 'io.modelcontextprotocol/logLevel': 'info' }
    const seen = messagesOf((await call({ meta, headers: STREAMING })).text)
    expect(seen.map(({ method, params }) => [method, params])).toEqual([
      ['notifications/progress', { progressToken: 'p1', progress: 1, total: 4, message: 'Reading' }],
      ['notifications/progress', { progressToken: 'p1', progress: 2, message: 'Halfway' }],
      ['notifications/message', { level: 'warning', data: { left: 3 }, logger: 'stock' }],
      [undefined, undefined],
    ])
    expect(seen.at(-1)).toMatchObject({ id: 1, result: { structuredContent: { done: true } } })
    expect((await call({ headers: STREAMING })).headers['content-type']).toContain('application/json')
    const old = await client.legacy('tools/call', { name: 'look' }, { path, headers: STREAMING })
    expect(messagesOf(old.text).map(({ method }) => method)).toEqual(['notifications/message', undefined])
  })

  it('continues the trace in _meta, and drops one that is malformed', async () => {
    const { call } = await scene()
    const trace = '0af7651916cd43dd8448eb211c80319c'
    const sent = () => agents.receiver.requests.at(-1)?.headers ?? {}
    await call({ meta: { traceparent: `00-${trace}-b7ad6b7169203331-01`, baggage: 'tier=gold' } })
    expect(sent()).toMatchObject({ traceparent: expect.stringContaining(trace), baggage: 'tier=gold' })
    await call({ meta: { traceparent: `00-${trace}`, baggage: 7 } })
    expect(String(sent().traceparent)).not.toContain(trace)
    expect(sent().baggage).toBeUndefined()
  })

  it('shows the content that the agent shaped, and ignores an invalid shape', async () => {
    const { call, target } = await scene()
    const content = [
      { type: 'text', text: 'Three.' },
      { type: 'image', data: 'AAAA', mimeType: 'image/png' },
    ]
    target.behaves(succeedsWith({ n: 3, $mcp: { content } }))
    expect((await call()).body.result).toMatchObject({ content, structuredContent: { n: 3 } })
    target.behaves(succeedsWith({ n: 3, $mcp: { content: [{ type: 'image', data: '?', mimeType: 'image/png' }] } }))
    const { result } = (await call()).body
    expect(result.content).toEqual([{ type: 'text', text: '{"n":3}' }])
    expect(result.structuredContent).toEqual({ n: 3 })
  })

  it('ends with the caller’s notification, in the older versions', async () => {
    const { client, path, target, caller } = await scene({ behaviour: () => ACCEPT })
    const answer = client.legacy('tools/call', { name: 'look' }, { path, id: 'c-1' })
    const active = async () => (await agents.runsOf(target))[0]
    while ((await active())?.status !== 'running') await pause(20)
    const cancel = (token: string, requestId: unknown) =>
      client.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } }, { path, token })
    const stranger = await installed(platform.deps, { workspaceId: caller.workspaceId })
    await cancel(stranger.token, 'c-1')
    await cancel(caller.token, 'c-2')
    expect((await active())?.status).toBe('running')
    expect((await cancel(caller.token, 'c-1')).status).toBe(202)
    expect((await active())?.status).toBe('cancelled')
    expect((await answer).body.result).toMatchObject({ isError: true })
  })
})

describe('a call that dies', () => {
  it('at any store call leaves one run that ends right, and its repeat finds it', async () => {
    await dieAtEach(platform, { limit: 200, stride: 20 }, async (n, dying) => {
      const { call, task, target } = await scene({ tools: tool({ task: 'always' }) })
      const key = { ...TASK, meta: { ...TASK.meta, 'aip/idempotencyKey': 'dies' } }
      await dying(
        () => call(key),
        () => platform.drain(),
      )
      await recover(platform, 200_000)
      const { body } = await call(key)
      expect(body.result, `killed after call ${n}: ${JSON.stringify(body)}`).toMatchObject({ resultType: 'task' })
      await platform.drain()
      const runs = await agents.runsOf(target)
      expect(runs, `killed after call ${n}`).toHaveLength(1)
      const end = (await task('get', body.result.taskId)).body.result
      expect(['completed', 'failed'], `killed after call ${n}`).toContain(end.status)
      expect(await agents.activeRuns(target)).toBe(0)
    })
  })

  it('at any store call while it waits leaves one run that ends, and its repeat gets the answer', async () => {
    await dieAtEach(platform, { limit: 200, stride: 20 }, async (n, dying) => {
      const { call, target } = await scene({ tools: tool({ task: 'never' }) })
      const key = { meta: { 'aip/idempotencyKey': 'dies' } }
      await dying(() => call(key))
      for (let round = 0; round < 3; round++) {
        await platform.drain()
        platform.clock.advance(70_000)
        await platform.sweep()
      }
      const { body } = await agents.whileWorking(() => call(key))
      const runs = await agents.runsOf(target)
      expect(runs, `killed after call ${n}: ${JSON.stringify(body)}`).toHaveLength(1)
      expect(runs[0]?.finished_at, `killed after call ${n}`).toBeDefined()
      expect(await agents.activeRuns(target)).toBe(0)
      if (runs[0]?.status === 'succeeded') expect(body.result.structuredContent).toEqual({ ok: true })
    })
  })

  it('at any store call around a person’s decision leaves one task that ends right, and the request goes out once at most', async () => {
    const outcomes = new Set<string>()
    await dieAtEach(platform, { limit: 300, stride: 30 }, async (n, dying) => {
      const { caller, client } = await scene()
      const { run } = await agents.running(caller)
      const address = `${page.url}/page-${n}`
      const params = { name: 'http_fetch', arguments: { url: address } }
      const sent = async () => ({
        meta: { ...TASK.meta, 'aip/idempotencyKey': 'dies' },
        token: await callbackToken(platform.deps, caller, run.id),
      })
      const call = async () => (await client.modern('tools/call', params, await sent())).body.result?.taskId
      const person = await member(platform.deps, caller.workspaceId, 'member')
      const decide = (taskId: string) =>
        platform.call('POST', `/console/runs/${run.id}/steps/${taskId}/decision`, {
          token: person.token,
          body: { decision: 'approve' },
        })
      const first = await sent()
      let known: string | undefined
      await dying(
        async () => {
          known = (await client.modern('tools/call', params, first)).body.result?.taskId
        },
        async () => known !== undefined && decide(known),
        () => platform.drain(),
      )
      await recover(platform, 70_000)
      const taskId = known ?? (await call())
      expect(taskId, `killed after call ${n}`).toMatch(/^stp_/)
      await decide(taskId)
      await platform.drain()
      const { body } = await client.modern('tasks/get', { taskId }, await sent())
      expect(body.result, `killed after call ${n}`).toMatchObject({ status: 'completed' })
      const { structuredContent } = body.result.result
      outcomes.add(structuredContent.error ?? 'fetched')
      const steps = (await platform.call('GET', `/console/runs/${run.id}`, { token: person.token })).body.steps
      expect(steps.filter(({ tool }: { tool: string }) => tool === 'http_fetch')).toHaveLength(1)
      const requests = page.requests.filter(({ path }) => path === `/page-${n}`).length
      // Nobody knows whether a request of a worker that died was answered, so it isn’t sent again.
      expect(requests, `killed after call ${n}`).toBeLessThanOrEqual(1)
      if (structuredContent.error === undefined) expect(requests).toBe(1)
    })
    expect(['fetched', 'outcome_unknown']).toEqual(expect.arrayContaining([...outcomes]))
  })

  it('or is sent many times at once with one idempotency key makes one run', async () => {
    const { call, target } = await scene({ tools: tool({ task: 'always' }) })
    const key = { ...TASK, meta: { ...TASK.meta, 'aip/idempotencyKey': 'same' } }
    const times = DEEP ? 1_000 : 24
    const ids = new Set<string>()
    for (let sent = 0; sent < times; sent += 20) {
      // A caller may send 10 requests a second.
      platform.clock.advance(10_000)
      const answers = await Promise.all(Array.from({ length: Math.min(20, times - sent) }, () => call(key)))
      for (const { status, body } of answers) {
        expect([200, 409]).toContain(status)
        if (status === 200) ids.add(body.result.taskId)
      }
    }
    expect(ids.size).toBe(1)
    expect(await agents.runsOf(target)).toHaveLength(1)
  })
})

describe('resources', () => {
  const save = (token: string, name: string, body: object) =>
    platform.call('POST', '/api/v1/files', { token, body: { name, ...body } })

  it('are the workspace’s files, newest first, as text or bytes, and runs with their steps', async () => {
    const { client, caller } = await scene()
    const text = (await save(caller.token, 'note.txt', { content: 'Hello', content_type: 'text/plain' })).body
    platform.clock.advance(1_000)
    const bytes = (await save(caller.token, 'x.bin', { content_base64: '/wA=', content_type: 'image/png' })).body
    const { body } = await client.modern('resources/list')
    expect(body.result).toMatchObject({
      resources: [
        { uri: `aip://files/${bytes.id}`, name: 'x.bin', mimeType: 'image/png', size: 2 },
        { uri: `aip://files/${text.id}`, name: 'note.txt' },
      ],
      ttlMs: 0,
      cacheScope: 'private',
    })
    const read = async (uri: string, more: object = {}) => (await client.modern('resources/read', { uri }, more)).body
    expect((await read(`aip://files/${text.id}`)).result.contents).toEqual([
      { uri: `aip://files/${text.id}`, mimeType: 'text/plain', text: 'Hello' },
    ])
    expect((await read(`aip://files/${bytes.id}`)).result.contents[0].blob).toBe('/wA=')
    const { run } = await agents.running(caller)
    const [shown] = (await read(`aip://runs/${run.id}`)).result.contents
    expect(JSON.parse(shown.text)).toMatchObject({ id: run.id, status: 'running', steps: [] })
    const stranger = await installed(platform.deps)
    for (const [uri, token] of [
      [`aip://files/${text.id}`, stranger.token],
      [`aip://runs/${run.id}`, stranger.token],
      ['aip://files/../x', caller.token],
      ['test://anything', caller.token],
    ] as const) {
      expect((await read(uri, { token })).error).toMatchObject({ code: -32_602, data: { uri } })
      expect((await client.legacy('resources/read', { uri }, { token })).body.error.code).toBe(-32_002)
    }
  })

  it('need their scopes: a caller without them lists none and learns which to request', async () => {
    const { client, caller } = await scene()
    const file = (await save(caller.token, 'a', { content: 'a' })).body
    const poor = await installed(platform.deps, { workspaceId: caller.workspaceId, scopes: ['tools:invoke'] })
    const asPoor = { token: poor.token }
    expect((await client.modern('resources/list', {}, asPoor)).body.result.resources).toEqual([])
    const refused = await client.modern('resources/read', { uri: `aip://files/${file.id}` }, asPoor)
    expect([refused.status, refused.headers['www-authenticate']]).toEqual([403, expect.stringContaining('files:read')])
    expect((await client.modern('resources/templates/list', {}, asPoor)).body.result.resourceTemplates).toHaveLength(2)
    expect((await client.modern('resources/list', { cursor: 'x' })).body.error.code).toBe(-32_602)
  })
})

describe('the run of a call', () => {
  it('is not readable as a task by the agent that works on it, nor cancellable by the id of another’s request', async () => {
    const { call, target } = await scene({ tools: tool({ task: 'always' }), behaviour: () => ACCEPT })
    const { taskId } = (await call(TASK)).body.result
    await platform.drain()
    const token = await callbackToken(platform.deps, target, taskId)
    const other = createClient(platform, token)
    expect((await other.modern('tasks/cancel', { taskId }, TASK)).body.error.code).toBe(-32_602)
    const key = { installation_id: target.installation.id, id: taskId }
    expect((await platform.deps.table.get(RunEntity, key))?.status).toBe('running')
  })
})
