import type { Client } from 'openapi-fetch'
import { resolveUrl } from './config.ts'
import { Failure, failureOf } from './failure.ts'
import { reached } from './reachable.ts'

/** Parts of a call that the pages use. */
interface Init {
  params?: { path?: Record<string, string>; query?: Record<string, unknown> }
  body?: unknown
  /** With an `Idempotency-Key` of the caller's. */
  headers?: Record<string, string>
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/** Fills in a path such as `/console/runs/{id}`, and adds the query. A list is a parameter for each of its values. */
const addressOf = (template: string, { path = {}, query = {} }: NonNullable<Init['params']>): string => {
  const filled = template.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(path[name] ?? ''))
  const asked = new URLSearchParams(
    Object.entries(query).flatMap(([name, value]) =>
      [value].flat().flatMap((one) => (one === undefined || one === null ? [] : [[name, String(one)]])),
    ),
  )
  return resolveUrl(filled.slice(1)) + (asked.size > 0 ? `?${asked}` : '')
}

/** Reads a response's JSON. An error may have another body, from a proxy on the way. */
const read = async (response: Response): Promise<unknown> => {
  const text = await response.text()
  if (text === '') return undefined
  try {
    return JSON.parse(text)
  } catch (error) {
    if (response.ok) throw error
    return text
  }
}

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
  /** Responses to requests with a token. Without one, 401 refuses what was sent, such as a passkey at the sign-in. */
  const ofSessions = new WeakSet<Response>()
  const ask = async (method: string, template: string, { params = {}, body, headers: given }: Init = {}) => {
    const text = body === undefined ? undefined : JSON.stringify(body)
    const address = addressOf(template, params)
    const headers = new Headers(given)
    if (text !== undefined) headers.set('content-type', 'application/json')
    const token = tokenNow()
    // A header can't be forged by another site's form or script, and it isn't logged.
    if (token) headers.set(...credential(token))
    const same = `${method} ${address} ${text}`
    if (method === 'POST' && !given) {
      const key = unanswered.get(same) ?? crypto.randomUUID()
      unanswered.set(same, key)
      headers.set('idempotency-key', key)
    }
    const request = new Request(address, {
      method,
      headers,
      cache: 'no-store',
      credentials: 'omit',
      ...(text !== undefined && { body: text }),
    })
    const early = method === 'GET' ? window.early?.get(address) : undefined
    window.early?.delete(address)
    const response =
      (await early) ??
      (await send(request).catch((error) => {
        // The sandbox's client asks for a token first, and that can be refused.
        throw error instanceof Failure ? error : new Failure('no_connection', 0)
      }))
    reached()
    if (token) ofSessions.add(response)
    if (response.status < 500) unanswered.delete(same)
    const answer = await read(response)
    return response.ok ? { data: answer, response } : { error: answer, response }
  }
  // The types come from the library. Its code supports far more than these pages use, and is a tenth of a page's script.
  const api = Object.fromEntries(
    METHODS.map((method) => [method, (template: string, init?: Init) => ask(method, template, init)]),
  ) as unknown as Pick<Client<Paths>, (typeof METHODS)[number]>
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
      if (failure.status === 401 && ofSessions.has(response)) {
        // They were asked for with the same session.
        window.early?.clear()
        failure.sessionEnded = true
        sessionExpired()
      }
      throw failure
    },
    /** Watches a call made without this client, such as a download, for an expired session. */
    watch: async <T>(asked: Promise<T>): Promise<T> => {
      try {
        return await asked
      } catch (error) {
        if (error instanceof Failure && error.status === 401) {
          error.sessionEnded = true
          sessionExpired()
        }
        throw error
      }
    },
  }
}
