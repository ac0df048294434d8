import createClient, { type Client, type Middleware } from 'openapi-fetch'
import { at } from './config.ts'
import { Failure, failureOf } from './failure.ts'

/**
 * A client of the platform's API, typed from its OpenAPI document.
 * @param tokenNow the token that every call carries, while somebody is signed in
 */
export const platformClient = <Paths extends object>(tokenNow: () => string | undefined) => {
  let onSessionOver = (): void => {}
  /** Keys of requests that nobody knows the outcome of: the same request sent again must not be a second one. */
  const unanswered = new Map<string, string>()
  const signed: Middleware = {
    async onRequest({ request }) {
      const token = tokenNow()
      // A header alone: a form or a script of another site cannot send it, and no log keeps it.
      if (token) request.headers.set('authorization', `Bearer ${token}`)
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
    baseUrl: at('').replace(/\/$/, ''),
    cache: 'no-store',
    credentials: 'omit',
  })
  api.use(signed)
  return {
    api,
    /** Whom to tell when the platform does not take the session any more. */
    whenSessionIsOver: (told: () => void): void => {
      onSessionOver = told
    },
    /**
     * What a call answered.
     * @throws {Failure}
     */
    take: async <T>(asked: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<T> => {
      const { data, error, response } = await asked
      if (response.ok) return data as T
      const failure = failureOf(response, error)
      if (failure.status === 401) onSessionOver()
      throw failure
    },
    /** What another way of calling answered, such as a download: a session that is over is told of just so. */
    watch: async <T>(asked: Promise<T>): Promise<T> => {
      try {
        return await asked
      } catch (error) {
        if (error instanceof Failure && error.status === 401) onSessionOver()
        throw error
      }
    },
  }
}
