import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'

/** Message of the chat completions protocol, as received. */
export interface SentMessage {
  role: 'system' | 'user' | 'assistant' | 'tool'
  content: string | null
  tool_calls?: { id: string; function: { name: string; arguments: string }; extra_content?: object }[]
  tool_call_id?: string
  reasoning_content?: string
}

/** Request for one turn. */
export interface ModelRequest {
  path: string
  headers: IncomingHttpHeaders
  model: string
  stream: boolean
  stream_options?: object
  messages: SentMessage[]
  /** Names of the offered tools. */
  tools: string[]
}

/** Tool call of a scripted turn. Arguments are a value, or the exact text that the model writes. */
export interface ScriptedCall {
  tool: string
  arguments?: object | string
  id?: string
  /** `thought_signature` as Gemini's OpenAI-compatible API sends it. */
  signature?: string
}

/** Scripted turn. */
export type Turn =
  | {
      text?: string
      calls?: ScriptedCall[]
      /** `reasoning_content` as thinking models send it. */
      reasoning?: string
      /** Null leaves it out. */
      finish?: string | null
      /** Null leaves it out. `total` is the sum if it isn't given. */
      usage?: { input: number; output: number; total?: number; cached?: number; reasoning?: number } | null
      delayMs?: number
    }
  /** Answers with this status. Objects are sent as JSON. */
  | { status: number; headers?: Record<string, string>; body: object | string }
  /** Never answers. */
  | { hang: true }
  /** Closes the connection in the middle of the answer. */
  | { truncated: true }
  /** Sends these chunks as a stream, whatever was asked for, and then `[DONE]` unless `done` is false. Texts are sent as they are. */
  | { chunks: Iterable<object | string> | AsyncIterable<object | string>; done?: boolean }

export type Script = Turn | ((request: ModelRequest) => Turn | Promise<Turn>)

/** Key that the server accepts. */
export const MODEL_KEY = 'sk-model-key-of-the-tests-0123456789'

/** Builds an error of the protocol. */
export const refusal = (status: number, message: string, headers: Record<string, string> = {}): Turn => ({
  status,
  headers,
  body: { error: { message, type: 'error', param: null, code: null } },
})

/** Returns the last tool result that the model received, if any. */
export const lastResult = ({ messages }: ModelRequest): string | undefined =>
  messages.findLast(({ role }) => role === 'tool')?.content ?? undefined

/**
 * Starts a language model with the OpenAI-compatible protocol (`POST /chat/completions`, whole or as a stream), on loopback. Its
 * turns are scripted: `next` sets single turns, `always` all further ones. It checks its key as a provider does.
 */
export const startModelServer = async () => {
  const requests: ModelRequest[] = []
  const queue: Script[] = []
  let usual: Script = { text: 'done' }
  let ids = 0

  const server = createServer((incoming, response) => {
    void answer().catch(() => response.destroy())
    async function answer(): Promise<void> {
      const body = (await json(incoming)) as {
        model: string
        stream?: boolean
        stream_options?: object
        messages: SentMessage[]
        tools?: { function: { name: string } }[]
      }
      const request: ModelRequest = {
        path: incoming.url ?? '',
        headers: incoming.headers,
        model: body.model,
        stream: body.stream ?? false,
        ...(body.stream_options && { stream_options: body.stream_options }),
        messages: body.messages,
        tools: (body.tools ?? []).map((each) => each.function.name),
      }
      requests.push(request)
      if (incoming.headers.authorization !== `Bearer ${MODEL_KEY}`) {
        const given = incoming.headers.authorization?.replace('Bearer ', '')
        return write(response, refusal(401, `Incorrect API key provided: ${given}`), request, () => `call_${++ids}`)
      }
      const script = queue.shift() ?? usual
      const turn = typeof script === 'function' ? await script(request) : script
      await write(response, turn, request, () => `call_${++ids}`)
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    next: (...scripts: Script[]): void => void queue.push(...scripts),
    always: (script: Script): void => {
      usual = script
      queue.length = 0
    },
    async close(): Promise<void> {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

export type ModelServer = Awaited<ReturnType<typeof startModelServer>>

const JSON_TYPE = { 'content-type': 'application/json' }

const write = async (response: ServerResponse, turn: Turn, request: ModelRequest, id: () => string): Promise<void> => {
  if ('hang' in turn) return
  if ('truncated' in turn) {
    response.writeHead(200, request.stream ? { 'content-type': 'text/event-stream' } : JSON_TYPE)
    response.write(request.stream ? 'data: {"id":"x","choices":[{"index":0,' : '{"id":"x","choices":[{"index":0,"mess')
    await pause(20)
    response.destroy()
    return
  }
  if ('status' in turn) {
    response.writeHead(turn.status, { ...JSON_TYPE, ...turn.headers })
    response.end(typeof turn.body === 'string' ? turn.body : JSON.stringify(turn.body))
    return
  }
  if ('chunks' in turn) {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for await (const chunk of turn.chunks) {
      // An endless stream ends with its reader.
      while (response.writableNeedDrain && !response.destroyed) await pause(1)
      if (response.destroyed) return
      response.write(typeof chunk === 'string' ? chunk : `data: ${JSON.stringify(chunk)}\n\n`)
    }
    response.end(turn.done === false ? '' : 'data: [DONE]\n\n')
    return
  }
  if (turn.delayMs) await pause(turn.delayMs)
  const { text = '', calls = [], reasoning, usage = { input: 10, output: 5 } } = turn
  const finish_reason = turn.finish === undefined ? (calls.length > 0 ? 'tool_calls' : 'stop') : turn.finish
  const tool_calls = calls.map((call) => ({
    id: call.id ?? id(),
    type: 'function',
    function: {
      name: call.tool,
      arguments: typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments ?? {}),
    },
    ...(call.signature !== undefined && { extra_content: { google: { thought_signature: call.signature } } }),
  }))
  // Frameworks replace a message by a later one with the same id.
  const head = { id: `chatcmpl-${randomUUID()}`, created: 1, model: request.model }
  const total = usage && {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.total ?? usage.input + usage.output,
    ...(usage.cached !== undefined && { prompt_tokens_details: { cached_tokens: usage.cached } }),
    ...(usage.reasoning !== undefined && { completion_tokens_details: { reasoning_tokens: usage.reasoning } }),
  }
  if (!request.stream) {
    const message = {
      role: 'assistant',
      content: text || null,
      ...(reasoning !== undefined && { reasoning_content: reasoning }),
      ...(calls.length > 0 && { tool_calls }),
    }
    response.writeHead(200, JSON_TYPE)
    response.end(
      JSON.stringify({
        ...head,
        object: 'chat.completion',
        choices: [{ index: 0, message, finish_reason }],
        ...(total && { usage: total }),
      }),
    )
    return
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const chunk = (delta: object, end: string | null = null): void => {
    const choices = [{ index: 0, delta, finish_reason: end }]
    response.write(`data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices })}\n\n`)
  }
  chunk({ role: 'assistant' })
  if (reasoning !== undefined) chunk({ reasoning_content: reasoning })
  for (const word of text.split(/(?<= )/).filter(Boolean)) chunk({ content: word })
  for (const [index, call] of tool_calls.entries()) chunk({ tool_calls: [{ index, ...call }] })
  chunk({}, finish_reason)
  const last = { ...head, object: 'chat.completion.chunk', choices: [], usage: total }
  if (total) response.write(`data: ${JSON.stringify(last)}\n\n`)
  response.end('data: [DONE]\n\n')
}
