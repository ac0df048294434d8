import { beforeEach, describe, expect, it } from 'vitest'
import { createLanguageModel } from '#shared/adapters/language-model.ts'
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
    ['answers with invalid JSON', { status: 200, body: '<html>hm' }, /could not be understood\. <html>hm/, 1],
    [
      'answers with unexpected JSON',
      { status: 200, body: { hello: 1 } },
      /could not be understood|could not be read/,
      1,
    ],
    ['answers without a choice', { status: 200, body: { choices: [] } }, /could not be/, 1],
    ['redirects elsewhere', { status: 307, headers: { location: '/v1/other' }, body: '' }, /did not answer/, 3],
    ['sends an empty answer', { text: '' }, /returned an empty answer/, 1],
    ['withholds its answer', { text: 'I', finish: 'content_filter' }, /withheld/, 1],
    ['cuts its answer off', { text: 'I', finish: 'length' }, /exceeded its maximum length/, 1],
    [
      'requests more calls than a turn allows',
      { calls: Array.from({ length: 21 }, () => ({ tool: 'workspace_info' })) },
      /21 tool calls/,
      1,
    ],
  ])(
    'because it %s fails the run with llm_error and a message',
    async (_what, turn, message, requests) => {
      if ('status' in turn && turn.status === 307) configureModel(platform, model, 15_000)
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

  it('in the middle of its response fails the run, or is retried', async () => {
    model.always({ truncated: true })
    const run = await runOf(platform, await inlineAgent(platform))
    expect(run).toMatchObject({ status: 'failed', error_code: 'llm_error' })
  })

  it('by an endless response isn’t read to its end', async () => {
    model.always({ text: 'x'.repeat(5 * 1_024 * 1_024) })
    const run = await runOf(platform, await inlineAgent(platform))
    expect(run).toMatchObject({ status: 'failed', error_code: 'llm_error' })
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
