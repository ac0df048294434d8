/** A call that did not succeed. `code` is the platform's, or `no_connection`. */
export class Failure extends Error {
  readonly code: string
  readonly status: number
  readonly fix: string
  readonly requestId: string
  readonly details: Record<string, unknown>

  constructor(
    code: string,
    status: number,
    message = '',
    fix = '',
    requestId = '',
    details: Record<string, unknown> = {},
  ) {
    super(message)
    this.code = code
    this.status = status
    this.fix = fix
    this.requestId = requestId
    this.details = details
  }
}

/** Any thrown value as a {@link Failure}; a fault of the page itself counts as the server's. */
export const asFailure = (error: unknown): Failure =>
  error instanceof Failure ? error : new Failure('internal_error', 500)

/**
 * A refused call, from the platform's error body.
 * @param answer what the body was, if it was JSON
 */
export const failureOf = (response: Response, answer: unknown): Failure => {
  const { code = 'internal_error', message, fix, request_id, details } = (answer as { error?: ErrorBody })?.error ?? {}
  const requestId = request_id ?? response.headers.get('x-request-id') ?? ''
  return new Failure(code, response.status, message, fix, requestId, details)
}

interface ErrorBody {
  code?: string
  message?: string
  fix?: string
  request_id?: string
  details?: Record<string, unknown>
}
