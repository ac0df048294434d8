import { at } from './config.ts'

/** A call that did not succeed. `code` is the platform's, or `no_connection`. */
export class Failure extends Error {
  readonly code: string
  readonly status: number
  readonly fix: string
  readonly requestId: string

  constructor(code: string, status: number, message = '', fix = '', requestId = '') {
    super(message)
    this.code = code
    this.status = status
    this.fix = fix
    this.requestId = requestId
  }
}

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
  const { code = 'internal_error', message, fix, request_id } = answer.error ?? {}
  throw new Failure(code, response.status, message, fix, request_id ?? response.headers.get('x-request-id') ?? '')
}

/** Any thrown value as a {@link Failure}; a fault of the page itself counts as the server's. */
export const asFailure = (error: unknown): Failure =>
  error instanceof Failure ? error : new Failure('internal_error', 500)
