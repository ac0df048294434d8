import { randomUUID } from 'node:crypto'
import { isObject } from '../kernel/json-schema/json-object.ts'
import { LIMITS } from '../kernel/limits.ts'
import type { ModelRequest } from '../kernel/ports/language-model.ts'
import { assemble, BrokenOff, TooLong } from './model-stream.ts'

/** Header of a response whose error came with status 200. Its value is the code that the error names, if any. */
export const ERROR_IN_BODY = 'x-error-in-body'

/** Response of a model provider that can't be used, for a reason that no further attempt changes. */
export class UnusableResponse extends Error {}

/** How a turn is asked for. Each form is for servers that refuse the one before it. */
const FORMS = [{ stream: true, stream_options: { include_usage: true } }, { stream: true }, { stream: false }] as const

/** First form to try, by model. What a model's server refused once isn't tried again by this process. */
export type KnownForms = Map<string, number>

type OnText = NonNullable<ModelRequest['onText']>

interface TurnOptions {
  /** False for answers in one piece only. */
  isStreamed: boolean
  forms: KnownForms
  /** A repeated attempt begins with an empty text. */
  onText?: OnText | undefined
}

/**
 * Creates the `fetch` with which the library takes a turn from an OpenAI-compatible API. It returns the turn whole, and settles what
 * providers do differently before the library reads it. The key goes to the configured address only.
 * @throws the function: {@link UnusableResponse} over 4 MiB; TypeError as `fetch` if the connection fails or breaks
 */
export const turnFetch =
  ({ isStreamed, forms, onText }: TurnOptions) =>
  async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const request = isStreamed ? parsed(String(init?.body)) : undefined
    if (!isObject(request)) return settled(await fetch(input, { ...init, redirect: 'error' }))
    const model = String(request.model)
    for (let form = forms.get(model) ?? 0; ; form++) {
      const body = JSON.stringify({ ...request, ...FORMS[form] })
      const response = await fetch(input, { ...init, body, redirect: 'error' })
      if (response.ok) {
        onText?.(() => '')
        return settled(response, onText)
      }
      const text = await readBounded(response)
      if (form === FORMS.length - 1 || !refusesStream(response.status, text)) return new Response(text, response)
      forms.set(model, form + 1)
    }
  }

const refusesStream = (status: number, text: string): boolean =>
  (status === 400 || status === 422) && /\bstream(?:ing|_options)?\b/i.test(text)

const settled = async (response: Response, onText?: OnText): Promise<Response> => {
  const isEvents = /^text\/event-stream\b/i.test(response.headers.get('content-type') ?? '')
  if (response.ok && isEvents && response.body) return settledStream(response, response.body, onText)
  const text = await readBounded(response)
  if (!response.ok) return new Response(text, response)
  // Some servers send their events without the type.
  if (/^\s*data:/.test(text)) return settledStream(response, new Blob([text]).stream())
  const body = parsed(text)
  const error = errorOf(body)
  if (error !== undefined) return errorResponse(response, text, error.code)
  return nameCalls(body) ? new Response(JSON.stringify(body), response) : new Response(text, response)
}

const settledStream = async (
  response: Response,
  body: AsyncIterable<Uint8Array>,
  onText?: OnText,
): Promise<Response> => {
  const assembled = await broken(() => assemble(body, onText))
  const headers = new Headers(response.headers)
  headers.set('content-type', 'application/json')
  const whole = { status: response.status, headers }
  if (assembled.kind === 'error') return errorResponse(whole, JSON.stringify(assembled.body), assembled.code)
  if (assembled.kind === 'odd') return new Response(assembled.text, whole)
  nameCalls(assembled.completion)
  const text = JSON.stringify(assembled.completion)
  if (Buffer.byteLength(text) > LIMITS.modelAnswerBytes) throw new UnusableResponse('it is over 4 MiB')
  return new Response(text, whole)
}

const errorResponse = (response: { headers: Headers }, text: string, code: unknown): Response => {
  const status = Number(code)
  const headers = new Headers(response.headers)
  headers.set(ERROR_IN_BODY, encodeURIComponent(String(code ?? '')).slice(0, 100))
  return new Response(text, { status: status >= 400 && status <= 599 ? status : 502, headers })
}

const readBounded = (response: Response): Promise<string> =>
  broken(async () => {
    const pieces: Uint8Array[] = []
    let bytes = 0
    for await (const piece of response.body ?? []) {
      bytes += piece.byteLength
      if (bytes > LIMITS.modelAnswerBytes) throw new TooLong('it is over 4 MiB')
      pieces.push(piece)
    }
    return new TextDecoder().decode(Buffer.concat(pieces))
  })

/** Reads a body, and gives what goes wrong the errors of {@link turnFetch}. */
const broken = async <T>(read: () => Promise<T>): Promise<T> => {
  try {
    return await read()
  } catch (error) {
    if (error instanceof TooLong) throw new UnusableResponse(error.message)
    if (error instanceof Error && error.name !== 'TypeError' && !(error instanceof BrokenOff)) throw error
    // The library repeats requests whose fetch failed.
    throw new TypeError('fetch failed', { cause: new Error('the connection broke inside the answer') })
  }
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Returns the error that an answer with status 200 carries: in place of its choices, or as the outcome of its first. */
const errorOf = (body: unknown): { code?: unknown } | undefined => {
  if (!isObject(body)) return undefined
  const [choice] = choicesOf(body)
  const error = choice === undefined ? body.error : choice.error
  return isObject(error) ? error : undefined
}

/**
 * Gives calls without an id, and calls whose id another call of the turn has, an id of their own. Results go back by id, so two calls
 * under one would be the same call twice.
 * @returns whether the body changed
 */
const nameCalls = (body: unknown): boolean => {
  let changed = false
  const seen = new Set<unknown>()
  for (const choice of isObject(body) ? choicesOf(body) : []) {
    const calls = isObject(choice.message) ? choice.message.tool_calls : undefined
    for (const call of Array.isArray(calls) ? calls : []) {
      if (!isObject(call)) continue
      if (typeof call.id !== 'string' || call.id === '' || seen.has(call.id)) {
        Object.assign(call, { id: `call_${randomUUID().replaceAll('-', '')}` })
        changed = true
      }
      seen.add(call.id)
    }
  }
  return changed
}

const choicesOf = ({ choices }: Record<string, unknown>): Record<string, unknown>[] =>
  Array.isArray(choices) ? choices.filter(isObject) : []
