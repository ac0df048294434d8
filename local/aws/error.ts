/** An error as an AWS service answers it. */
export class AwsError extends Error {
  override readonly name = 'AwsError'
  readonly code: string
  readonly status: number
  /** What the answer's body has beside code and message. */
  readonly fields: Record<string, unknown>

  /**
   * @param code the service's error code, e.g. `ResourceNotFoundException`
   * @param message what the service says
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

/** Thrown by a hook: the connection breaks off without an answer. */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost'
}
