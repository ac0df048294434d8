/** Structured logger. Fields hold ids and numbers, never client input or secrets. */
export interface Logger {
  debug(message: string, fields?: Record<string, unknown>): void
  info(message: string, fields?: Record<string, unknown>): void
  warn(message: string, fields?: Record<string, unknown>): void
  error(message: string, fields?: Record<string, unknown>): void
  /** Writes one line that is both a log entry and metrics. `values` maps names to [number, CloudWatch unit]. */
  metrics(
    message: string,
    dimensions: Record<string, string>,
    values: Record<string, readonly [number, string]>,
    fields?: Record<string, unknown>,
  ): void
}
