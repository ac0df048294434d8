import { at } from './config.ts'
import { Failure, failureOf } from './failure.ts'

interface Options {
  body?: unknown
  /** Goes into a header alone: a form or a script of another site cannot send it. */
  token?: string | undefined
  /** Idempotency-Key. */
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
    response = await fetch(at(path), {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
      cache: 'no-store',
      credentials: 'omit',
    })
  } catch {
    throw new Failure('no_connection', 0)
  }
  const answer = await response.json().catch(() => ({}))
  if (response.ok) return answer
  throw failureOf(response, answer)
}
