/** Valid call of an endpoint. */
export interface Sample {
  path: string
  token?: string
  headers?: Record<string, string>
  body?: unknown
  /** True if the call waits until workers have done something. */
  works?: true
}

/** Parts of a valid call that can't be derived from the endpoint's declaration. */
export interface Given extends Partial<Omit<Sample, 'path'>> {
  /** Values of the path's parameters, in their order. */
  ids?: readonly string[]
  query?: string
}
