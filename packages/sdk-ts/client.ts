import createClient, { type Client } from 'openapi-fetch'
import type { components, paths } from './api.d.ts'
import { sendWithRetries } from './retry.ts'
import { fetchWithin } from './time-limit.ts'

const TIMEOUT_MS = 310_000

type Fetch = (request: Request) => Promise<Response>

/** A typed client of the API. Paths, parameters, bodies and responses come from the OpenAPI document. */
export type Api = Client<paths>

/** Body of every error response. */
export type ErrorBody = components['schemas']['ErrorBody']
export type ErrorCode = ErrorBody['error']['code']

export interface Tokens {
  access_token: string
  refresh_token: string
}

/** A client application with the tokens of one installation. */
export interface OAuthOptions {
  clientId: string
  clientSecret: string
  tokens: Tokens
  /**
   * Stores the new pair, encrypted, in place of the old one. The old refresh token is no longer valid, and using it again would
   * revoke the whole chain. The client uses the new pair only after this function is done.
   */
  onTokens(tokens: Tokens): Promise<void> | void
}

export type ApiOptions = {
  /** The platform's address. */
  baseUrl: string
  /** Longest time of a request in ms, its response included. Default: 310,000, more than the slowest answer of the platform takes. */
  timeout?: number | undefined
  /** W3C trace context that is sent with each request. */
  traceparent?: string | undefined
  /** Cancels each request. */
  signal?: AbortSignal | undefined
} & (
  | OAuthOptions
  | {
      /** Access token, or a function that returns a valid one. */
      token: string | (() => Promise<string> | string)
    }
)

/** An error response. Match on `code`, which is stable. The texts can change. */
export class PlatformError extends Error {
  readonly status: number
  readonly code: ErrorCode
  readonly fix: string
  readonly docsUrl: string
  readonly requestId: string
  /** Further data, depending on the code. */
  readonly details: Record<string, unknown>

  constructor(status: number, { error }: ErrorBody) {
    super(`${error.code}: ${error.message} ${error.fix} (${error.request_id})`)
    this.name = 'PlatformError'
    this.status = status
    this.code = error.code
    this.fix = error.fix
    this.docsUrl = error.docs_url
    this.requestId = error.request_id
    this.details = error.details
  }
}

/** The access token that requests carry, and how to replace it. */
interface Credential {
  token(): Promise<string> | string
  /** Replaces a token that was refused. */
  renew?(refused: string): Promise<void>
}

/**
 * Creates a client that sends the access token with each request and an `Idempotency-Key` with each POST. It repeats requests
 * that were lost, or that the platform was too busy for. If the token has expired, the client refreshes it and repeats the
 * request once.
 */
export const createApi = (options: ApiOptions): Api => {
  const baseUrl = options.baseUrl.replace(/\/+$/, '')
  const fetchOnce = fetchWithin(options.timeout ?? TIMEOUT_MS)
  const credential: Credential =
    'tokens' in options ? refreshing(options, `${baseUrl}/oauth/token`, fetchOnce) : given(options.token)

  const send = (request: Request, token: string): Promise<Response> => {
    request.headers.set('authorization', `Bearer ${token}`)
    return request.method === 'GET' || request.headers.has('idempotency-key')
      ? sendWithRetries(request, fetchOnce)
      : fetchOnce(request)
  }

  return createClient<paths>({
    baseUrl,
    ...(options.signal && { signal: options.signal }),
    async fetch(request) {
      // The platform recognizes repeats by this key, whether it comes from this client or from its caller.
      if (request.method === 'POST' && !request.headers.has('idempotency-key')) {
        request.headers.set('idempotency-key', crypto.randomUUID())
      }
      if (options.traceparent) request.headers.set('traceparent', options.traceparent)
      const token = await credential.token()
      if (!credential.renew) return send(request, token)
      const again = request.clone()
      const response = await send(request, token)
      if (response.status !== 401) return response
      await response.body?.cancel()
      await credential.renew(token)
      return send(again, await credential.token())
    },
  })
}

const given = (token: string | (() => Promise<string> | string)): Credential => ({
  token: typeof token === 'string' ? () => token : token,
})

/** Refreshes an expired token. Concurrent requests share one refresh, because a refresh token works only once. */
const refreshing = (options: OAuthOptions, address: string, fetchOnce: Fetch): Credential => {
  let { tokens } = options
  let renewing: Promise<void> | undefined
  // It changes only after the pair is stored, so that a repeat after a failure isn't reuse of the old token.
  let key = crypto.randomUUID()
  const renew = async (): Promise<void> => {
    const next = await refresh(options, tokens.refresh_token, key, address, fetchOnce)
    await options.onTokens(next)
    tokens = next
    key = crypto.randomUUID()
  }
  return {
    token: () => tokens.access_token,
    renew(refused) {
      if (tokens.access_token !== refused) return Promise.resolve()
      renewing ??= renew().finally(() => {
        renewing = undefined
      })
      return renewing
    },
  }
}

/**
 * Exchanges a refresh token. If the response is lost, repeating the request with the same Idempotency-Key returns it again.
 * Without the key, the repeat would count as reuse of an old token.
 */
const refresh = async (
  options: OAuthOptions,
  refreshToken: string,
  key: string,
  address: string,
  fetchOnce: Fetch,
): Promise<Tokens> => {
  const form = {
    grant_type: 'refresh_token',
    client_id: options.clientId,
    client_secret: options.clientSecret,
    refresh_token: refreshToken,
  }
  const request = new Request(address, {
    method: 'POST',
    headers: { 'idempotency-key': key },
    body: new URLSearchParams(form),
  })
  const response = await sendWithRetries(request, fetchOnce)
  if (!response.ok) throw new PlatformError(response.status, await errorBodyOf(response))
  const { access_token, refresh_token } = (await response.json()) as Tokens
  return { access_token, refresh_token }
}

/** Reads an error response, or describes one that isn't the platform's. */
const errorBodyOf = async (response: Response): Promise<ErrorBody> =>
  asErrorBody(await response.json().catch(() => undefined), response)

const asErrorBody = (body: unknown, response: Response): ErrorBody => {
  if (typeof (body as ErrorBody | undefined)?.error?.code === 'string') return body as ErrorBody
  return {
    error: {
      code: 'internal_error',
      message: `The response (HTTP ${response.status}) isn’t from the platform.`,
      fix: 'Check the base address, and try again.',
      docs_url: '',
      request_id: response.headers.get('x-request-id') ?? '',
      details: {},
    },
  } as ErrorBody
}

/**
 * Returns the data of a response: `const run = await unwrap(api.POST('/api/v1/runs', …))`.
 * @throws {PlatformError} if the response is an error
 */
export const unwrap = async <T>(
  answer: Promise<{ data?: T; error?: unknown; response: Response }>,
): Promise<NonNullable<T>> => {
  const { data, error, response } = await answer
  if (error !== undefined || !response.ok) throw new PlatformError(response.status, asErrorBody(error, response))
  return data as NonNullable<T>
}

/**
 * Yields all items of a list, page by page:
 * `for await (const run of pages((cursor) => unwrap(api.GET('/api/v1/runs', { params: { query: { cursor } } }))))`.
 */
export async function* pages<T>(
  read: (cursor: string | undefined) => Promise<{ items: T[]; next_cursor: string | null }>,
): AsyncGenerator<T> {
  let cursor: string | undefined
  do {
    const page = await read(cursor)
    yield* page.items
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined)
}
