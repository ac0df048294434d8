/** Valid call of an endpoint. */
export interface Sample {
  path: string
  token?: string
  headers?: Record<string, string>
  body?: unknown
  /** True if the call waits until workers have done something. */
  works?: true
}
