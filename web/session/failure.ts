/** A failed call. `code` is the API's error code, or `no_connection`. */
export class Failure extends Error {
  declare readonly code: string
  declare readonly status: number
  declare readonly fix: string
  declare readonly requestId: string
  declare readonly details: Record<string, unknown>
  /** Seconds after which the platform takes the call again, at the rate limit. */
  declare retryAfter?: number
  /** True if the platform rejected the session, which the sign-in form says. */
  declare sessionEnded?: boolean

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

/**
 * Converts any thrown value to a {@link Failure}. A part of the page that couldn't be fetched (`web/theme/modules.ts`) counts as
 * a call without an answer, and a bug in the page as an internal error.
 */
export const toFailure = (error: unknown): Failure => {
  if (error instanceof Failure) return error
  return (error as Error)?.name === 'NetworkError'
    ? new Failure('no_connection', 0)
    : new Failure('internal_error', 500)
}

/**
 * Creates a {@link Failure} from an API error response.
 * @param answer parsed body, if it was JSON
 */
export const failureOf = (response: Response, answer: unknown): Failure => {
  const { code = 'internal_error', message, fix, request_id, details } = (answer as { error?: ErrorBody })?.error ?? {}
  const requestId = request_id ?? response.headers.get('x-request-id') ?? ''
  const failure = new Failure(code, response.status, message, fix, requestId, details)
  failure.retryAfter = Number(response.headers.get('retry-after'))
  return failure
}

interface ErrorBody {
  code?: string
  message?: string
  fix?: string
  request_id?: string
  details?: Record<string, unknown>
}
