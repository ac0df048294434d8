import createClient, { type Client, type Middleware } from 'openapi-fetch'
import { resolveUrl } from './config.ts'
import { Failure, failureOf } from './failure.ts'

/**
 * Creates an API client typed from the OpenAPI document.
 * @param tokenNow returns the token to send, if a user is signed in
 * @param send replaces `fetch`
 * @param credential header that carries the token
 */
export const platformClient = <Paths extends object>(
  tokenNow: () => string | undefined,
  send: (request: Request) => Promise<Response> = (request) => fetch(request),
  credential: (token: string) => readonly [header: string, value: string] = (token) => [
    'authorization',
    `Bearer ${token}`,
  ],
) => {
  let sessionExpired = (): void => {}
  /** Idempotency keys of requests whose outcome is unknown. Resending the same request reuses its key. */
  const unanswered = new Map<string, string>()
  const signed: Middleware = {
    async onRequest({ request }) {
      const token = tokenNow()
      // A header can't be forged by another site's form or script, and it isn't logged.
      if (token) request.headers.set(...credential(token))
      if (request.method !== 'POST') return request
      const same = `${request.url} ${await request.clone().text()}`
      const key = unanswered.get(same) ?? crypto.randomUUID()
      unanswered.set(same, key)
      request.headers.set('idempotency-key', key)
      return request
    },
    onResponse({ request, response }) {
      const key = request.headers.get('idempotency-key')
      if (response.status >= 500) return
      for (const [same, known] of unanswered) if (known === key) unanswered.delete(same)
    },
    onError: () => new Failure('no_connection', 0),
  }
  const api: Client<Paths> = createClient<Paths>({
    baseUrl: resolveUrl('').replace(/\/$/, ''),
    cache: 'no-store',
    credentials: 'omit',
    fetch: send,
  })
  api.use(signed)
  return {
    api,
    /** Registers a callback for when the platform rejects the session. */
    onSessionExpired: (callback: () => void): void => {
      sessionExpired = callback
    },
    /**
     * Returns the response body.
     * @throws {Failure}
     */
    unwrap: async <T>(asked: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<T> => {
      const { data, error, response } = await asked
      if (response.ok) return data as T
      const failure = failureOf(response, error)
      if (failure.status === 401) sessionExpired()
      throw failure
    },
    /** Watches a call made without this client, such as a download, for an expired session. */
    watch: async <T>(asked: Promise<T>): Promise<T> => {
      try {
        return await asked
      } catch (error) {
        if (error instanceof Failure && error.status === 401) sessionExpired()
        throw error
      }
    },
  }
}
