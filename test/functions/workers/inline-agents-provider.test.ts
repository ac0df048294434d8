import { beforeEach, describe, expect, it } from 'vitest'
import { createLanguageModel } from '#shared/adapters/language-model.ts'
import { NotificationEntity } from '#shared/identity/notifications/entity.ts'
import type { Span } from '#shared/kernel/ports/traces.ts'
import { MODEL_KEY, refusal, type Turn } from '#testkit/model-server.ts'
import { usingModel } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { configureModel, inlineAgent, runOf } from './inline-agents-support.ts'

const platform = usingPlatform()
const model = usingModel()
beforeEach(() => {
  configureModel(platform, model)
  model.requests.length = 0
  model.always({ text: 'done' })
})

const AT_ONCE = { 'retry-after-ms': '1' }

describe('a model provider that fails', () => {
  it.each<[string, Turn, RegExp, number]>([
    ['refuses the request', refusal(400, 'no such model'), /HTTP 400\. .*no such model/, 1],
    ['refuses the key', refusal(401, `wrong key ${MODEL_KEY}`), /HTTP 401\. .*wrong key …/, 1],
    ['is rate limited for long', refusal(429, 'slow down', AT_ONCE), /HTTP 429\. .*slow down/, 3],
    ['has an internal error', refusal(500, 'oops', AT_ONCE), /HTTP 500\. .*oops/, 3],
    ['answers with invalid JSON', { status: 200, body: '<html>hm' }, /isn’t JSON\. <html>hm/, 1],
    ['answers with unexpected JSON', { status: 200, body: { hello: 1 } }, /isn’t a chat completion: choices/, 1],
    [
      'answers with a field of the wrong type',
      { status: 200, body: { choices: [{ message: { tool_calls: [{ function: { name: 'a', arguments: {} } }] } }] } },
      /choices\.0\.message\.tool_calls\.0\.function\.arguments: .*expected string/,
      1,
    ],
    ['answers without a choice', { status: 200, body: { choices: [] } }, /did not contain any choices/, 1],
    [
      'answers 200 with an error',
      { status: 200, headers: AT_ONCE, body: { error: { message: 'no' } } },
      /HTTP 200 and an error\. /,
      3,
    ],
    [
      'answers 200 with an error that has a code',
      { status: 200, body: { error: { message: 'wrong model', code: 404 } } },
      /HTTP 200 and an error \(404\)\. .*wrong model/,
      1,
    ],
    [
      'answers 200 with an error in the choice',
      {
        status: 200,
        body: {
          choices: [{ message: { content: 'I' }, finish_reason: 'error', error: { code: 400, message: 'lost' } }],
        },
      },
      /HTTP 200 and an error \(400\)\. .*lost/,
      1,
    ],
    ['redirects elsewhere', { status: 307, headers: { location: '/v1/other' }, body: '' }, /did not answer/, 3],
    ['sends an empty answer', { text: '' }, /returned an empty answer/, 1],
    ['withholds its answer', { text: 'I', finish: 'content_filter' }, /withheld/, 1],
    ...['length', 'max_tokens', 'model_length'].map((finish): [string, Turn, RegExp, number] => [
      `cuts its answer off with ${finish}`,
      { text: 'I', finish },
      /exceeded its maximum length/,
      1,
    ]),
    ...['error', 'insufficient_system_resource', 'brand_new'].map((finish): [string, Turn, RegExp, number] => [
      `ends its answer with ${finish}`,
      { text: 'I', finish },
      new RegExp(`isn’t whole: its provider ended it with “${finish}”`),
      1,
    ]),
    [
      'requests more calls than a turn allows',
      { calls: Array.from({ length: 21 }, () => ({ tool: 'workspace_info' })) },
      /21 tool calls/,
      1,
    ],
  ])(
    'because it %s fails the run with llm_error and a message',
    async (_what, turn, message, requests) => {
      if (requests === 3) configureModel(platform, model, 15_000)
      model.always(turn)
      const run = await runOf(platform, await inlineAgent(platform))
      expect(run).toMatchObject({ status: 'failed', error_code: 'llm_error', output: null })
      expect(run.error_message).toMatch(message)
      expect(run.steps.at(-1)).toMatchObject({ type: 'error', output: { code: 'llm_error' } })
      expect(model.requests).toHaveLength(requests)
      expect(JSON.stringify(run) + platform.logs.join('')).not.toContain(MODEL_KEY)
    },
    15_000,
  )

  it('has its response shown in the step, truncated', async () => {
    model.always(refusal(400, 'x'.repeat(5_000)))
    const run = await runOf(platform, await inlineAgent(platform))
    expect(run.steps.at(-1).output).toMatchObject({
      status: 400,
      body: expect.stringMatching(/^\{"error":\{"message":"xx/),
    })
    expect(run.steps.at(-1).output.body).toHaveLength(1_000)
    expect(run.error_message.length).toBeLessThan(400)
  })

  it('by never responding is given up at the deadline', async () => {
    configureModel(platform, model, 300)
    model.always({ hang: true })
    const run = await runOf(platform, await inlineAgent(platform))
    expect(run).toMatchObject({ error_code: 'llm_error', error_message: 'The model did not answer within 0.3 s.' })
  })

  it('in the middle of its response is retried, and then fails the run', async () => {
    configureModel(platform, model, 15_000)
    model.always({ truncated: true })
    const run = await runOf(platform, await inlineAgent(platform))
    expect(run).toMatchObject({ status: 'failed', error_code: 'llm_error' })
    expect(run.error_message).toBe('The model did not answer: the connection broke inside the answer')
    expect(model.requests).toHaveLength(3)
  })

  it('by an endless response isn’t read to its end', async () => {
    model.always({ text: 'x'.repeat(5 * 1_024 * 1_024) })
    const run = await runOf(platform, await inlineAgent(platform))
    expect(run).toMatchObject({ status: 'failed', error_code: 'llm_error' })
    expect(run.error_message).toBe('The model’s response is unusable: it is over 4 MiB')
    expect(model.requests).toHaveLength(1)
  })

  it('temporarily is retried after the requested delay', async () => {
    model.next(refusal(429, 'slow down', { 'retry-after': '1' }), refusal(503, 'soon', AT_ONCE))
    const begun = performance.now()
    expect(await runOf(platform, await inlineAgent(platform))).toMatchObject({ status: 'succeeded' })
    expect(performance.now() - begun).toBeGreaterThan(950)
    expect(model.requests).toHaveLength(3)
  })

  it('by being unreachable is reported in the run, with the cost so far', async () => {
    const app = await inlineAgent(platform)
    model.next({ calls: [{ tool: 'workspace_info' }] }, refusal(400, 'no more'))
    expect(await runOf(platform, app)).toMatchObject({ error_code: 'llm_error', cost_units: 15 })
    platform.deps.model = createLanguageModel({
      key: async () => MODEL_KEY,
      apiUrl: 'http://127.0.0.1:1/v1',
      name: 'small',
      deadlineMs: 300,
    })
    expect(await runOf(platform, app)).toMatchObject({ error_code: 'llm_error', cost_units: 0 })
  })
})

describe('an answer', () => {
  it.each(['stop', 'STOP', 'end_turn', 'eos', 'stop_sequence', null])('that ends with %s is whole', async (finish) => {
    model.next({ text: 'Seven.', finish })
    expect((await runOf(platform, await inlineAgent(platform))).output).toEqual({ text: 'Seven.' })
  })

  it.each([
    ['<think>Let me count.\nSix, seven.</think>\n\nSeven.', 'Seven.'],
    ['Let me count.\nSix, seven.\n</think>\n\nSeven.', 'Seven.'],
    ['The tag </think> ends a thought, <think> begins it.', 'The tag </think> ends a thought, <think> begins it.'],
  ])('doesn’t contain the thoughts of a server without a reasoning parser: %j', async (text, shown) => {
    model.next({ text })
    expect((await runOf(platform, await inlineAgent(platform))).output).toEqual({ text: shown })
  })
})

it('a model’s server gets the trace of the request that started the run', async () => {
  const app = await inlineAgent(platform)
  const traceparent = `00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-03`
  await platform.call('POST', '/api/v1/runs', { token: app.token, body: {}, headers: { traceparent } })
  await platform.drain()
  expect(model.requests[0]?.headers.traceparent).toMatch(/^00-4bf92f3577b34da6a3ce929d0e0e4736-[0-9a-f]{16}-03$/)
  expect(model.requests[0]?.headers.baggage).toBeUndefined()
})

it('a run’s spans name its agent, its turns with their tokens, and its tools, and hold no content', async () => {
  const spans: Span[] = []
  platform.deps.traces = { share: 1, export: async (more) => void spans.push(...more) }
  const app = await inlineAgent(platform, { name: 'Stock keeper' })
  model.next({ text: 'A secret word.', calls: [{ tool: 'workspace_info' }], usage: { input: 20, output: 7 } })
  const headers = { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' }
  const body = { input: { question: 'A secret question?' } }
  await platform.call('POST', '/api/v1/runs', { token: app.token, body, headers })
  await platform.drain()
  delete platform.deps.traces
  const named = (name: string) => spans.filter((span) => span.name === name)
  const [agent] = named('invoke_agent Stock keeper')
  expect(agent?.attributes).toMatchObject({
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.id': app.app.id,
    'gen_ai.agent.name': 'Stock keeper',
    'gen_ai.agent.version': app.version.version,
  })
  const turns = named('chat small')
  expect(turns).toHaveLength(2)
  expect(turns[0]).toMatchObject({
    kind: 'client',
    parentSpanId: agent?.spanId,
    attributes: {
      'gen_ai.request.model': 'small',
      'gen_ai.usage.input_tokens': 20,
      'gen_ai.usage.output_tokens': 7,
      'gen_ai.response.finish_reasons': ['tool_calls'],
    },
  })
  expect(named('execute_tool workspace_info')).toMatchObject([
    {
      parentSpanId: agent?.spanId,
      attributes: { 'gen_ai.tool.name': 'workspace_info' },
    },
  ])
  expect(JSON.stringify(spans)).not.toContain('secret')
})

describe('the tokens of a run', () => {
  const usageOf = async (turn: Turn) => {
    model.next(turn)
    const { usage, cost_units } = await runOf(platform, await inlineAgent(platform))
    expect(cost_units).toBe(usage.input_tokens + usage.output_tokens)
    return usage
  }

  it('are those that the provider bills, with its cache and its reasoning', async () => {
    const usage = { input: 750, output: 550, cached: 500, reasoning: 250 }
    expect(await usageOf({ text: 'Seven.', usage })).toEqual({
      input_tokens: 750,
      output_tokens: 550,
      cached_tokens: 500,
      reasoning_tokens: 250,
    })
  })

  it('include reasoning that the provider counts in the total only', async () => {
    expect(await usageOf({ text: 'Seven.', usage: { input: 750, output: 300, total: 1_300 } })).toEqual({
      input_tokens: 750,
      output_tokens: 550,
      reasoning_tokens: 250,
    })
  })

  it('are estimated by the text if the provider reports none, and say so', async () => {
    const usage = await usageOf({ text: 'x'.repeat(400), usage: null })
    expect(usage).toMatchObject({ estimated: true })
    expect(usage.output_tokens).toBeGreaterThan(99)
    expect(usage.output_tokens).toBeLessThan(110)
    expect(usage.input_tokens).toBeGreaterThan(20)
    expect(platform.logs.join('')).toMatch(/model turn.*"estimated":true/)
  })

  it('are added up over all turns, and have a price if the operator gave the model’s', async () => {
    const prices = { small: { input: 2, cached: 0.5, output: 10 } }
    platform.deps.model = createLanguageModel({ key: async () => MODEL_KEY, apiUrl: model.url, name: 'small', prices })
    model.next(
      { calls: [{ tool: 'workspace_info' }], usage: { input: 1_000, output: 100, cached: 400 } },
      { text: 'Done.', usage: { input: 2_000, output: 50 } },
    )
    const app = await inlineAgent(platform)
    const run = await runOf(platform, app)
    const usage = { input_tokens: 3_000, output_tokens: 150, cached_tokens: 400 }
    expect(run.usage).toEqual({ ...usage, cost_usd: expect.closeTo((2_600 * 2 + 400 * 0.5 + 150 * 10) / 1e6, 12) })
    const { token } = app.person
    const { body } = await platform.call('GET', `/console/runs/${run.id}/trace`, { token })
    expect(body.runs[0].tokens).toMatchObject({ input: 3_000, output: 150, cached_tokens: 400 })
  })
})

describe('a turn with calls', () => {
  const look = { tool: 'workspace_info' }
  const notify = (title: string) => ({ tool: 'notify_user', arguments: { title, body: 'World' } })

  it('goes back with the reasoning and the signatures that its provider sent, and shows them to nobody', async () => {
    model.next({
      text: 'Let me see.',
      reasoning: 'A secret thought.',
      calls: [{ ...look, signature: 'c2lnbmVk' }, look],
    })
    const run = await runOf(platform, await inlineAgent(platform))
    expect(run.status).toBe('succeeded')
    const [said] = model.requests[1]?.messages.filter(({ role }) => role === 'assistant') ?? []
    expect(said).toMatchObject({ content: 'Let me see.', reasoning_content: 'A secret thought.' })
    expect(said?.tool_calls?.map(({ extra_content }) => extra_content)).toEqual([
      { google: { thought_signature: 'c2lnbmVk' } },
      undefined,
    ])
    expect(JSON.stringify(run) + platform.logs.join('')).not.toMatch(/secret thought|c2lnbmVk/)
  })

  it.each([
    ['the same id', 'call_1'],
    ['an empty id', ''],
  ])('whose calls have %s makes each of them once, and gives the model each result', async (_what, id) => {
    const app = await inlineAgent(platform)
    model.next({
      calls: [
        { ...notify('First'), id },
        { ...notify('Second'), id },
      ],
    })
    expect((await runOf(platform, app)).status).toBe('succeeded')
    const { items } = await platform.deps.table.query(
      NotificationEntity,
      { workspace_id: app.workspaceId },
      { limit: 10, ascending: true },
    )
    expect(items.map(({ title }) => title).sort()).toEqual(['First', 'Second'])
    const messages = model.requests[1]?.messages ?? []
    const calls = messages.flatMap(({ tool_calls = [] }) => tool_calls)
    expect(calls.map((call) => JSON.parse(call.function.arguments).title)).toEqual(['First', 'Second'])
    const results = messages.filter(({ role }) => role === 'tool').map(({ tool_call_id }) => tool_call_id)
    expect(results).toEqual(calls.map((call) => call.id))
    expect(new Set(results).size).toBe(2)
  })
})

describe('the test model server', () => {
  it('returns the same response whole and as a stream', async () => {
    const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
    const { generateText, jsonSchema, streamText, tool } = await import('ai')
    const provider = createOpenAICompatible({ name: 'm', baseURL: model.url, apiKey: MODEL_KEY, includeUsage: true })
    const tools = { look: tool({ inputSchema: jsonSchema({ type: 'object' }) }) }
    const asked = { model: provider('small'), prompt: 'hi', tools }
    model.always({ text: 'one two three', calls: [{ tool: 'look', arguments: { a: 1 }, id: 'c' }] })
    const whole = await generateText(asked)
    const stream = streamText(asked)
    expect(await stream.text).toBe(whole.text)
    expect((await stream.toolCalls).map(({ toolName, input }) => [toolName, input])).toEqual([['look', { a: 1 }]])
    expect((await stream.usage).totalTokens).toBe(whole.usage.totalTokens)
    expect(model.requests.map(({ stream }) => stream)).toEqual([false, true])
  })
})
