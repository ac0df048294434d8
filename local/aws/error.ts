/** An error response of an AWS service. */
export class AwsError extends Error {
  override readonly name = 'AwsError'
  readonly code: string
  readonly status: number
  /** Fields of the response body besides code and message. */
  readonly fields: Record<string, unknown>

  /**
   * @param code the service's error code, e.g. `ResourceNotFoundException`
   * @param message the service's message
   * @param status HTTP status; most client errors are 400
   * @param fields e.g. `CancellationReasons`
   */
  constructor(code: string, message: string, status = 400, fields: Record<string, unknown> = {}) {
    super(message)
    this.code = code
    this.status = status
    this.fields = fields
  }
}

/** Thrown by a hook to break the connection off without a response. */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost'
}
