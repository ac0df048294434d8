import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { freePort } from '#local/free-port.ts'
import { createLanguageModel } from '#shared/adapters/language-model.ts'
import { MODEL_KEY, refusal } from '#testkit/model-server.ts'
import { using, usingModel } from '#testkit/using.ts'
import { environmentOf, removingEnvironments } from '../python/environment.ts'
import { startServer } from './support.ts'

const PACKAGE = 'litellm[proxy]==1.108.7'
const PROXY_KEY = 'sk-proxy-key-of-the-tests'

removingEnvironments()
const upstream = usingModel()
const proxy = using(
  async () => {
    const { folder, python } = await environmentOf('litellm', [PACKAGE])
    const port = await freePort()
    const config = path.join(folder, 'config.json')
    writeFileSync(
      config,
      JSON.stringify({
        model_list: [
          {
            model_name: 'small',
            litellm_params: { model: 'openai/tiny', api_base: upstream.url, api_key: MODEL_KEY, max_retries: 0 },
          },
        ],
        router_settings: { num_retries: 0, disable_cooldowns: true },
        general_settings: { master_key: PROXY_KEY },
      }),
    )
    const program = path.join(path.dirname(python), 'litellm')
    const url = `http://127.0.0.1:${port}`
    const server = await startServer(
      program,
      ['--config', config, '--host', '127.0.0.1', '--port', String(port)],
      async () => (await fetch(`${url}/health/liveliness`)).ok,
      // Its list of prices comes with the package.
      { LITELLM_LOCAL_MODEL_COST_MAP: 'True' },
    )
    return { url: `${url}/v1`, stop: server.stop }
  },
  (running) => running.stop(),
)
beforeEach(() => {
  upstream.requests.length = 0
  upstream.always({ text: 'done' })
})

const ask = async (isStreamed: boolean) => {
  const texts: string[] = []
  const model = createLanguageModel({
    key: async () => PROXY_KEY,
    apiUrl: proxy.url,
    name: 'small',
    isStreamed,
    deadlineMs: 60_000,
  })
  const answer = await model.turn({
    model: undefined,
    instructions: 'Be brief.',
    messages: [{ role: 'user', text: 'How many?' }],
    tools: ['look', 'tell'].map((name) => ({ name, description: name, inputSchema: { type: 'object' } })),
    signal: new AbortController().signal,
    onText: (read) => void texts.push(read()),
  })
  return { answer, texts }
}

describe.each([
  ['whole', false],
  ['streamed', true],
])('a turn through LiteLLM’s proxy, %s,', (_how, isStreamed) => {
  it('has the text, the end and the tokens of the model behind it', async () => {
    upstream.next({ text: 'Seven pieces left.', usage: { input: 750, output: 550, cached: 500, reasoning: 250 } })
    const { answer, texts } = await ask(isStreamed)
    expect(answer).toMatchObject({
      kind: 'answer',
      text: 'Seven pieces left.',
      end: 'whole',
      usage: { input_tokens: 750, output_tokens: 550, cached_tokens: 500, reasoning_tokens: 250 },
    })
    expect(upstream.requests).toMatchObject([{ model: 'tiny', stream: isStreamed }])
    if (isStreamed) expect(texts).toContain('Seven pieces ')
  })

  it('has each of its calls once', async () => {
    upstream.next({
      calls: [
        { tool: 'look', arguments: { a: 1 } },
        { tool: 'tell', arguments: { b: 2 } },
      ],
    })
    const { answer } = await ask(isStreamed)
    const calls = answer.kind === 'answer' ? answer.calls : []
    expect(calls.map(({ tool, arguments: given }) => [tool, given])).toEqual([
      ['look', { a: 1 }],
      ['tell', { b: 2 }],
    ])
    expect(new Set(calls.map(({ id }) => id)).size).toBe(2)
  })

  it('that the model refuses fails with the words of the model', async () => {
    upstream.always(refusal(400, 'no such thing'))
    const { answer } = await ask(isStreamed)
    expect(answer).toMatchObject({ kind: 'failure', status: 400, body: expect.stringContaining('no such thing') })
  })

  it('that was cut off isn’t whole', async () => {
    upstream.next({ text: 'Sev', finish: 'length' })
    expect((await ask(isStreamed)).answer).toMatchObject({ kind: 'answer', end: 'length' })
  })
})

it('a stream that breaks behind LiteLLM’s proxy is a failure', async () => {
  const begun = { id: 'x', object: 'chat.completion.chunk', created: 1, model: 'tiny' }
  const choices = [{ index: 0, delta: { role: 'assistant', content: 'Sev' }, finish_reason: null }]
  upstream.always({ chunks: [{ ...begun, choices }, { error: { code: 503, message: 'busy' } }] })
  expect((await ask(true)).answer).toMatchObject({ kind: 'failure', body: expect.stringContaining('busy') })
})
