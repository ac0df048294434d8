import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { explainFailure, explainResponse } from './explain.ts'
import { SilentServer, send } from './http.ts'

/** An error of the API or of the connection to it. Its texts are shown to the user. */
export class ApiError extends Error {
  /** 0 if there was no response. */
  readonly status: number
  readonly code: string
  readonly fix: string
  readonly requestId: string | undefined
  readonly retryAfterMs: number | undefined
  readonly details: Record<string, unknown> | undefined
  /** Whether the same request may succeed later. */
  readonly isTemporary: boolean
  constructor(
    status: number,
    error: { code: string; message: string; fix: string; request_id?: string; details?: Record<string, unknown> },
    { retryAfterMs, isTemporary }: { retryAfterMs?: number | undefined; isTemporary?: boolean } = {},
  ) {
    super(error.message)
    this.name = 'ApiError'
    this.status = status
    this.code = error.code
    this.fix = error.fix
    this.requestId = error.request_id
    this.details = error.details
    this.retryAfterMs = retryAfterMs
    this.isTemporary = isTemporary ?? (status === 0 || status === 429 || status >= 500)
  }
}

/** Returns whether the same request may succeed later: there was no response, or the platform was busy or failed. */
export const isTemporary = (error: unknown): error is ApiError => error instanceof ApiError && error.isTemporary

export interface Call {
  body?: unknown
  headers?: Record<string, string>
  /** Access token. Default: the developer's key is sent. */
  token?: string
  signal?: AbortSignal
}

export interface Api {
  baseUrl: string
  /** Sends one request and reads its JSON. @throws {ApiError} */
  // biome-ignore lint/suspicious/noExplicitAny: each command knows the responses of the endpoints it calls
  call(method: string, path: string, call?: Call): Promise<any>
  /** Sends a request and retries it after temporary errors. A POST keeps its Idempotency-Key across attempts. @throws {ApiError} */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  insist(method: string, path: string, call?: Call): Promise<any>
  /** Sends one request and returns the response before its body is read. @throws {ApiError} */
  open(method: string, path: string, call?: Call): Promise<Response>
}

const TRIES = 4

/** Media type of a stream of server-sent events, for the `Accept` header. */
export const EVENTS = 'text/event-stream'

/** @param key the developer's key; undefined for requests that need none */
export const createApi = ({ baseUrl, key }: { baseUrl: string; key: string | undefined }): Api => {
  const open = async (method: string, path: string, { body, headers, token, signal }: Call = {}): Promise<Response> => {
    let response: Response
    try {
      response = await send(baseUrl + path, {
        method,
        headers: {
          ...(token !== undefined
            ? { authorization: `Bearer ${token}` }
            : key !== undefined && { 'x-developer-key': key }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        signal,
      })
    } catch (error) {
      if (signal?.aborted) throw error
      throw unreachable(baseUrl, error)
    }
    const type = response.headers.get('content-type') ?? ''
    const isStream = headers?.accept === EVENTS
    const isExpected = response.status === 204 || (isStream ? type.includes(EVENTS) : !type.includes('html'))
    if (response.ok && isExpected) return response
    throw await refusal(baseUrl, response)
  }

  const call: Api['call'] = async (method, path, sent) => {
    const response = await open(method, path, sent)
    let text: string
    try {
      text = await response.text()
    } catch (error) {
      if (sent?.signal?.aborted) throw error
      throw unreachable(baseUrl, error)
    }
    try {
      return text === '' ? undefined : JSON.parse(text)
    } catch {
      throw new ApiError(response.status, { code: 'unexpected_answer', ...explainResponse(baseUrl, response) })
    }
  }

  const insist: Api['insist'] = async (method, path, sent = {}) => {
    const headers = { ...(method === 'POST' && { 'idempotency-key': randomUUID() }), ...sent.headers }
    for (let tries = 1; ; tries++) {
      try {
        return await call(method, path, { ...sent, headers })
      } catch (error) {
        if (!isTemporary(error) || tries >= TRIES) throw error
        await pause(retryDelay(tries, error.retryAfterMs), undefined, { signal: sent.signal })
      }
    }
  }

  return { baseUrl, call, insist, open }
}

/** Returns the ms before the next attempt: exponential up to 15 s with full jitter, and at least `retryAfterMs`. */
export const retryDelay = (tries: number, retryAfterMs = 0): number =>
  retryAfterMs + Math.random() * Math.min(15_000, 250 * 2 ** tries)

/** A server that stays silent would do so again. */
const unreachable = (baseUrl: string, error: unknown): ApiError =>
  new ApiError(
    0,
    { code: 'unreachable', ...explainFailure(baseUrl, error) },
    { isTemporary: !(error instanceof SilentServer) },
  )

const refusal = async (baseUrl: string, response: Response): Promise<ApiError> => {
  const seconds = Number(response.headers.get('retry-after'))
  const retryAfterMs = seconds > 0 ? seconds * 1_000 : undefined
  const body = await response.json().catch(() => undefined)
  const error = (body as { error?: ConstructorParameters<typeof ApiError>[1] } | undefined)?.error
  if (typeof error?.code === 'string') return new ApiError(response.status, error, { retryAfterMs })
  return new ApiError(
    response.status,
    { code: 'unexpected_answer', ...explainResponse(baseUrl, response) },
    { retryAfterMs },
  )
}
