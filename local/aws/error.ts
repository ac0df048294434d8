/** An error as an AWS service answers it. */
export class AwsError extends Error {
  override readonly name = 'AwsError'
  readonly code: string
  readonly status: number

  /**
   * @param code the service's error code, e.g. `ResourceNotFoundException`
   * @param message what the service says
   * @param status HTTP status; most client errors are 400
   */
  constructor(code: string, message: string, status = 400) {
    super(message)
    this.code = code
    this.status = status
  }
}
