import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'

/** An error of the API, or of the way to it. Its texts are shown as they are. */
export class ApiError extends Error {
  /** 0 when nothing was answered. */
  readonly status: number
  readonly code: string
  readonly fix: string
  readonly requestId: string | undefined
  readonly retryAfterMs: number | undefined
  readonly details: Record<string, unknown> | undefined
  constructor(
    status: number,
    said: { code: string; message: string; fix: string; request_id?: string; details?: Record<string, unknown> },
    retryAfterMs?: number,
  ) {
    super(said.message)
    this.name = 'ApiError'
    this.status = status
    this.code = said.code
    this.fix = said.fix
    this.requestId = said.request_id
    this.details = said.details
    this.retryAfterMs = retryAfterMs
  }
}

/** Whether the same request may succeed later: nothing was answered, the platform is busy or has a fault. */
export const isPassing = (error: unknown): error is ApiError =>
  error instanceof ApiError && (error.status === 0 || error.status === 429 || error.status >= 500)

export interface Call {
  body?: unknown
  headers?: Record<string, string>
  /** An access token; otherwise the developer's key goes along. */
  token?: string
  signal?: AbortSignal
}

export interface Api {
  baseUrl: string
  /** Sends one request and reads its JSON. @throws {ApiError} */
  // biome-ignore lint/suspicious/noExplicitAny: each command knows what the endpoint it calls answers
  call(method: string, path: string, call?: Call): Promise<any>
  /** The same, again and again while it may help; a POST carries the same Idempotency-Key at each try. @throws {ApiError} */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  insist(method: string, path: string, call?: Call): Promise<any>
  /** Sends one request and gives the answer as it begins. @throws {ApiError} */
  open(method: string, path: string, call?: Call): Promise<Response>
}

const TRIES = 4

export const createApi = ({ baseUrl, key }: { baseUrl: string; key: string }): Api => {
  const open = async (method: string, path: string, { body, headers, token, signal }: Call = {}): Promise<Response> => {
    let response: Response
    try {
      response = await fetch(baseUrl + path, {
        method,
        redirect: 'error',
        headers: {
          ...(token === undefined ? { 'x-developer-key': key } : { authorization: `Bearer ${token}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        ...(signal && { signal }),
      })
    } catch (error) {
      if (signal?.aborted) throw error
      throw unreachable(baseUrl, error)
    }
    if (response.ok) return response
    throw await refusal(response)
  }

  const call: Api['call'] = async (method, path, sent) => {
    const response = await open(method, path, sent)
    try {
      const text = await response.text()
      return text === '' ? undefined : JSON.parse(text)
    } catch (error) {
      if (sent?.signal?.aborted) throw error
      throw unreachable(baseUrl, error)
    }
  }

  const insist: Api['insist'] = async (method, path, sent = {}) => {
    const headers = { ...(method === 'POST' && { 'idempotency-key': randomUUID() }), ...sent.headers }
    for (let tries = 1; ; tries++) {
      try {
        return await call(method, path, { ...sent, headers })
      } catch (error) {
        if (!isPassing(error) || tries >= TRIES) throw error
        await pause(waitBefore(tries, error.retryAfterMs), undefined, { signal: sent.signal })
      }
    }
  }

  return { baseUrl, call, insist, open }
}

/** Ms before a further try: exponential up to 15 s with full jitter, and at least what the platform asked for. */
export const waitBefore = (tries: number, retryAfterMs = 0): number =>
  retryAfterMs + Math.random() * Math.min(15_000, 250 * 2 ** tries)

const unreachable = (baseUrl: string, error: unknown): ApiError => {
  const cause = (error as { cause?: { code?: unknown } }).cause
  const code = typeof cause?.code === 'string' ? ` (${cause.code})` : ''
  return new ApiError(0, {
    code: 'unreachable',
    message: `The platform does not answer at ${baseUrl}${code}.`,
    fix: 'Start it with npm start, or give its address with --base-url or PLATFORM_URL.',
  })
}

const refusal = async (response: Response): Promise<ApiError> => {
  const seconds = Number(response.headers.get('retry-after'))
  const wait = seconds > 0 ? seconds * 1_000 : undefined
  const body = await response.json().catch(() => undefined)
  const said = (body as { error?: ConstructorParameters<typeof ApiError>[1] } | undefined)?.error
  if (typeof said?.code === 'string') return new ApiError(response.status, said, wait)
  const message = `HTTP ${response.status}, and not in the platform’s words.`
  const fix = 'See that --base-url is the platform’s address, without a path.'
  return new ApiError(response.status, { code: 'unexpected_answer', message, fix }, wait)
}
