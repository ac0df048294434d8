import { resolveUrl } from './config.ts'
import { Failure, failureOf } from './failure.ts'
import { reached } from './reachable.ts'

interface Options {
  body?: unknown
  /** Sent in a header only, which another site's form or script can't forge. */
  token?: string | undefined
  /** Value of the `Idempotency-Key` header. */
  key?: string
}

/**
 * Calls the platform.
 * @throws {Failure}
 */
export const call = async <T>(method: string, path: string, { body, token, key }: Options = {}): Promise<T> => {
  const headers: Record<string, string> = {}
  if (body !== undefined) headers['content-type'] = 'application/json'
  if (token) headers.authorization = `Bearer ${token}`
  if (key) headers['idempotency-key'] = key
  let response: Response
  try {
    response = await fetch(resolveUrl(path), {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
      cache: 'no-store',
      credentials: 'omit',
    })
  } catch {
    throw new Failure('no_connection', 0)
  }
  reached()
  const answer = await response.json().catch(() => ({}))
  if (response.ok) return answer
  throw failureOf(response, answer)
}
