import { randomUUID } from 'node:crypto'
import createClient, { type Client } from 'openapi-fetch'
import type { components, paths } from './api.d.ts'

/**
 * A typed client of the API. Paths, parameters, bodies and responses come from the OpenAPI document.
 *
 * Generate `api.d.ts` with `npm run client` in this repository, or anywhere else with
 * `npx openapi-typescript <base address>/openapi/integration.json --output api.d.ts`.
 */
export type Api = Client<paths>

/** Body of every error response. */
export type ErrorBody = components['schemas']['Error']
export type ErrorCode = ErrorBody['error']['code']

export interface Tokens {
  access_token: string
  refresh_token: string
}

export interface ClientOptions {
  /** The platform's address, without a trailing slash. */
  baseUrl: string
  clientId: string
  clientSecret: string
  tokens: Tokens
  /**
   * Stores the new pair, encrypted, in place of the old one. The old refresh token is no longer valid, and using it again would
   * revoke the whole chain. The client uses the new pair only after this function is done.
   */
  onTokens(tokens: Tokens): Promise<void> | void
}

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

/**
 * Creates a client that sends the access token with each request and an `Idempotency-Key` with each POST. If the token has
 * expired, the client refreshes it and repeats the request once.
 */
export const createApi = (options: ClientOptions): Api => {
  let { tokens } = options
  let refreshing: Promise<void> | undefined

  const renew = async (): Promise<void> => {
    const next = await refresh(options, tokens.refresh_token)
    await options.onTokens(next)
    tokens = next
  }

  /** Refreshes an expired token. Concurrent requests share one refresh, because a refresh token works only once. */
  const renewed = (expired: string): Promise<void> => {
    if (tokens.access_token !== expired) return Promise.resolve()
    refreshing ??= renew().finally(() => {
      refreshing = undefined
    })
    return refreshing
  }

  const send = (request: Request, token: string): Promise<Response> => {
    request.headers.set('authorization', `Bearer ${token}`)
    return fetch(request)
  }

  return createClient<paths>({
    baseUrl: options.baseUrl,
    async fetch(request) {
      // The platform recognizes repeats by this key, whether it comes from this client or from its caller.
      if (request.method === 'POST' && !request.headers.has('idempotency-key')) {
        request.headers.set('idempotency-key', randomUUID())
      }
      const again = request.clone()
      const token = tokens.access_token
      const response = await send(request, token)
      if (response.status !== 401) return response
      await response.body?.cancel()
      await renewed(token)
      return send(again, tokens.access_token)
    },
  })
}

/**
 * Exchanges a refresh token. If the response is lost, repeating the request with the same Idempotency-Key returns it again.
 * Without the key, the repeat would count as reuse of an old token.
 */
const refresh = async (options: ClientOptions, refreshToken: string): Promise<Tokens> => {
  const headers = { 'idempotency-key': randomUUID() }
  const form = {
    grant_type: 'refresh_token',
    client_id: options.clientId,
    client_secret: options.clientSecret,
    refresh_token: refreshToken,
  }
  const ask = () =>
    fetch(`${options.baseUrl}/oauth/token`, { method: 'POST', headers, body: new URLSearchParams(form) })
  const response = await ask().catch(ask)
  if (!response.ok) throw new PlatformError(response.status, (await response.json()) as ErrorBody)
  const { access_token, refresh_token } = (await response.json()) as Tokens
  return { access_token, refresh_token }
}

/**
 * Returns the data of a response: `const run = await unwrap(api.POST('/api/v1/runs', …))`.
 * @throws {PlatformError} if the response is an error
 */
export const unwrap = async <T>(
  answer: Promise<{ data?: T; error?: unknown; response: Response }>,
): Promise<NonNullable<T>> => {
  const { data, error, response } = await answer
  if (error !== undefined || !response.ok) throw new PlatformError(response.status, error as ErrorBody)
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
