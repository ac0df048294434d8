import { randomUUID } from 'node:crypto'
import { isObject } from '../kernel/json-schema/json-object.ts'
import { LIMITS } from '../kernel/limits.ts'

/** Header of a response whose error came with status 200. Its value is the code that the error names, if any. */
export const ERROR_IN_BODY = 'x-error-in-body'

/** Response of a model provider that can't be used, for a reason that no further attempt changes. */
export class UnusableResponse extends Error {}

/**
 * Fetches a turn from an OpenAI-compatible API, whole, and settles what providers do differently before the library reads it. The key
 * goes to the configured address only.
 * @throws {@link UnusableResponse} over 4 MiB; TypeError as `fetch` if the connection fails or breaks
 */
export const fetchTurn = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
  const response = await fetch(input, { ...init, redirect: 'error' })
  const text = await readBounded(response)
  if (!response.ok) return new Response(text, response)
  const body = parsed(text)
  const error = errorOf(body)
  if (error !== undefined) {
    const { code } = error
    const status = Number(code)
    const headers = new Headers(response.headers)
    headers.set(ERROR_IN_BODY, encodeURIComponent(String(code ?? '')).slice(0, 100))
    return new Response(text, { status: status >= 400 && status <= 599 ? status : 502, headers })
  }
  return nameCalls(body) ? new Response(JSON.stringify(body), response) : new Response(text, response)
}

const readBounded = async (response: Response): Promise<string> => {
  const pieces: Uint8Array[] = []
  let bytes = 0
  try {
    for await (const piece of response.body ?? []) {
      bytes += piece.byteLength
      if (bytes > LIMITS.modelAnswerBytes) throw new UnusableResponse('it is over 4 MiB')
      pieces.push(piece)
    }
  } catch (error) {
    if (error instanceof UnusableResponse || (error instanceof Error && error.name !== 'TypeError')) throw error
    // The library repeats requests whose fetch failed.
    throw new TypeError('fetch failed', { cause: new Error('the connection broke inside the answer') })
  }
  return new TextDecoder().decode(Buffer.concat(pieces))
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
