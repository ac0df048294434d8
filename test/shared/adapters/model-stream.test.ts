import { beforeEach, describe, expect, it } from 'vitest'
import { createLanguageModel } from '#shared/adapters/language-model.ts'
import type { ModelAnswer } from '#shared/kernel/ports/language-model.ts'
import { MODEL_KEY, refusal, type Turn } from '#testkit/model-server.ts'
import { usingModel } from '#testkit/using.ts'

const server = usingModel()
beforeEach(() => {
  server.requests.length = 0
  server.always({ text: 'done' })
})

const modelOf = (options: { isStreamed?: boolean } = {}) =>
  createLanguageModel({
    key: async () => MODEL_KEY,
    apiUrl: server.url,
    name: 'small',
    deadlineMs: 10_000,
    ...options,
  })

const TOOLS = ['look', 'tell'].map((name) => ({ name, description: name, inputSchema: { type: 'object' } }))

const ask = (model = modelOf(), onText?: (read: () => string) => void) =>
  model.turn({
    model: undefined,
    instructions: 'Be brief.',
    messages: [{ role: 'user', text: 'hi' }],
    tools: TOOLS,
    signal: new AbortController().signal,
    onText,
  })

const answerTo = async (turn: Turn): Promise<ModelAnswer> => {
  server.next(turn)
  const answer = await ask()
  if (answer.kind !== 'answer') expect.fail(JSON.stringify(answer))
  return answer
}

const delta = (delta: object, finish_reason: string | null = null) => ({
  id: 'x',
  object: 'chat.completion.chunk',
  model: 'small',
  choices: [{ index: 0, delta, finish_reason }],
})
const calling = (...tool_calls: object[]) => delta({ tool_calls })
const END = delta({}, 'tool_calls')
const A = '{"a":1}'
const B = '{"b":2}'

describe('a streamed turn', () => {
  it.each<[string, (object | string)[]]>([
    [
      'of OpenAI: numbered, with the arguments in pieces',
      [
        calling({ index: 0, id: 'c1', type: 'function', function: { name: 'look', arguments: '' } }),
        calling({ index: 0, function: { arguments: '{"a"' } }),
        calling({ index: 0, function: { arguments: ':1}' } }),
        calling({ index: 1, id: 'c2', type: 'function', function: { name: 'tell', arguments: '' } }),
        calling({ index: 1, function: { arguments: B } }),
        END,
      ],
    ],
    [
      'of llama.cpp and vLLM: with pieces of two calls in one chunk',
      [
        calling({ index: 0, id: 'c1', function: { name: 'look', arguments: '{"a":' } }),
        calling(
          { index: 0, function: { arguments: '1}' } },
          { index: 1, id: 'c2', function: { name: 'tell', arguments: B } },
        ),
        END,
      ],
    ],
    [
      'of Gemini: whole calls without a number',
      [
        calling({ id: 'c1', type: 'function', function: { name: 'look', arguments: A } }),
        calling({ id: 'c2', type: 'function', function: { name: 'tell', arguments: B } }),
        END,
      ],
    ],
    [
      'of Ollama: whole calls that all have the number 0',
      [
        calling({ index: 0, id: 'c1', type: 'function', function: { name: 'look', arguments: A } }),
        calling({ index: 0, id: 'c2', type: 'function', function: { name: 'tell', arguments: B } }),
        END,
      ],
    ],
    [
      'of servers without ids',
      [
        calling({ function: { name: 'look', arguments: A } }),
        calling({ function: { name: 'tell', arguments: B } }),
        END,
      ],
    ],
    [
      'of servers that repeat id and name with each piece',
      [
        calling({ index: 0, id: 'c1', function: { name: 'look', arguments: '{"a"' } }),
        calling({ index: 0, id: 'c1', function: { name: 'look', arguments: ':1}' } }),
        calling({ index: 1, id: 'c2', function: { name: 'tell', arguments: '{"b"' } }),
        calling({ index: 1, id: 'c2', function: { name: 'tell', arguments: ':2}' } }),
        END,
      ],
    ],
    [
      'of servers that send an empty id and name with later pieces',
      [
        calling({ index: 0, id: 'c1', function: { name: 'look', arguments: '{"a"' } }),
        calling({ index: 0, id: '', function: { name: '', arguments: ':1}' } }),
        calling({ index: 1, id: 'c2', function: { name: 'tell', arguments: '{"b"' } }),
        calling({ index: 1, id: '', function: { name: null, arguments: ':2}' } }),
        END,
      ],
    ],
    [
      'that has everything in one chunk, with the lines of Windows and a comment',
      [
        `: keep-alive\r\n\r\ndata: ${JSON.stringify(
          delta(
            {
              role: 'assistant',
              tool_calls: [
                { index: 0, id: 'c1', function: { name: 'look', arguments: A } },
                { index: 1, id: 'c2', function: { name: 'tell', arguments: B } },
              ],
            },
            'tool_calls',
          ),
        )}\r\n\r\n`,
      ],
    ],
  ])('%s has each of its calls once, with its arguments', async (_what, chunks) => {
    const { calls, end } = await answerTo({ chunks })
    expect(calls.map(({ tool, arguments: given }) => [tool, given])).toEqual([
      ['look', { a: 1 }],
      ['tell', { b: 2 }],
    ])
    expect(new Set(calls.map(({ id }) => id)).size).toBe(2)
    expect(end).toBe('whole')
  })

  it('has each of its calls without arguments once, although all have the number 0', async () => {
    const bare = (id: string, name: string) => calling({ index: 0, id, function: { name, arguments: '' } })
    const { calls } = await answerTo({ chunks: [bare('c1', 'look'), bare('c2', 'tell'), END] })
    expect(calls).toMatchObject([
      { id: 'c1', tool: 'look', arguments: {} },
      { id: 'c2', tool: 'tell', arguments: {} },
    ])
  })

  it('keeps the tokens of a last chunk without choices', async () => {
    const usage = { prompt_tokens: 750, completion_tokens: 300, total_tokens: 1_300 }
    const answer = await answerTo({ chunks: [delta({ content: 'Seven.' }, 'stop'), { choices: [], usage }] })
    expect(answer).toMatchObject({ text: 'Seven.', usage: { input_tokens: 750, output_tokens: 550 } })
    expect(server.requests[0]).toMatchObject({ stream: true, stream_options: { include_usage: true } })
  })

  it('has its tokens estimated if no chunk has them', async () => {
    const { usage } = await answerTo({ chunks: [delta({ content: 'x'.repeat(400) }), delta({}, 'stop')] })
    expect(usage.estimated).toBe(true)
    expect(usage.output_tokens).toBeGreaterThan(99)
  })

  it('keeps the reasoning and the signatures of its calls', async () => {
    const { provider } = await answerTo({
      chunks: [
        delta({ reasoning_content: 'Let me ' }),
        delta({ reasoning_content: 'think.' }),
        calling({
          index: 0,
          id: 'c',
          function: { name: 'look', arguments: A },
          extra_content: { google: { thought_signature: 'c2ln' } },
        }),
        END,
      ],
    })
    expect(provider).toMatchObject({ reasoning: 'Let me think.' })
    expect(JSON.stringify(provider)).toContain('c2ln')
  })

  it('that was answered whole in spite of the request is taken as it is', async () => {
    const body = { choices: [{ index: 0, message: { content: 'Whole.' }, finish_reason: 'stop' }] }
    expect(await answerTo({ status: 200, body })).toMatchObject({ text: 'Whole.' })
  })

  it('shows its text while it comes, without thoughts and without the beginning of JSON', async () => {
    const shown = async (text: string) => {
      const texts: string[] = []
      server.next({ text })
      await ask(modelOf(), (read) => void texts.push(read()))
      return texts.filter((each, i) => each !== texts[i - 1])
    }
    expect(await shown('one two three')).toEqual(['', 'one ', 'one two ', 'one two three'])
    expect(await shown('<think>a secret</think> one two')).toEqual(['', 'one ', 'one two'])
    expect(await shown('{"found": 7}')).toEqual([''])
  })
})

describe('an error inside a stream', () => {
  const begun = delta({ content: 'I' })
  it.each<[string, Turn, RegExp, number]>([
    ['that has a code', { chunks: [begun, { error: { code: 404, message: 'gone' } }] }, /an error \(404\)/, 1],
    ['of its own event', { chunks: [begun, 'event: error\ndata: {"message":"lost","code":400}\n\n'] }, /\(400\)/, 1],
    ['of llama.cpp', { chunks: [begun, 'error: {"code":400,"message":"too long"}\n\n'] }, /\(400\)/, 1],
    ['without a code', { chunks: [begun, { error: { message: 'overloaded' } }] }, /HTTP 200 and an error\./, 3],
    ['that breaks it', { chunks: [begun], done: false }, /the connection broke inside the answer/, 3],
    ['that isn’t JSON', { chunks: ['data: hm\n\n'] }, /isn’t JSON/, 1],
    ['that isn’t a chunk', { chunks: [{ hello: 1 }] }, /isn’t a chat completion: choices/, 1],
  ])('%s is that of an answer in one piece', async (_what, turn, message, requests) => {
    server.always(turn)
    const answer = await ask(modelOf())
    expect(answer).toMatchObject({ kind: 'failure', message: expect.stringMatching(message) })
    expect(server.requests).toHaveLength(requests)
  })

  it('is forgotten when a further attempt succeeds', async () => {
    const texts: string[] = []
    server.next({ chunks: [delta({ content: 'half' }), { error: { code: 503, message: 'busy' } }] }, { text: 'whole' })
    const answer = await ask(modelOf(), (read) => void texts.push(read()))
    expect(answer).toMatchObject({ kind: 'answer', text: 'whole' })
    expect(texts).toEqual(['', 'half', '', 'whole'])
  })

  it('by an answer that never ends is a clear one', async () => {
    const endless = function* () {
      for (;;) yield delta({ content: 'x'.repeat(100_000) })
    }
    server.next({ chunks: endless() })
    expect(await ask()).toMatchObject({ message: 'The model’s response is unusable: it is over 4 MiB' })
  })
})

describe('a server that can’t stream', () => {
  it('is asked without what it refuses, and not again with it', async () => {
    const model = modelOf()
    server.always((request) =>
      request.stream_options
        ? refusal(400, 'Unrecognized request argument supplied: stream_options')
        : request.stream
          ? refusal(422, 'stream: not supported')
          : { text: 'whole' },
    )
    expect(await ask(model)).toMatchObject({ text: 'whole' })
    expect(await ask(model)).toMatchObject({ text: 'whole' })
    expect(server.requests.map(({ stream, stream_options }) => [stream, stream_options !== undefined])).toEqual([
      [true, true],
      [true, false],
      [false, false],
      [false, false],
    ])
  })

  it('is never asked to with the setting off', async () => {
    expect(await ask(modelOf({ isStreamed: false }))).toMatchObject({ text: 'done' })
    expect(server.requests).toMatchObject([{ stream: false }])
  })
})
