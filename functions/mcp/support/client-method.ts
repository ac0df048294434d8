/** A request that an agent may send to the client that called it. */
export interface ClientMethod {
  method: string
  /** Capability that a client declares, and that a tool can require. */
  capability: 'elicitation' | 'sampling' | 'roots'
  /** Returns what a client must have declared for a request: `{}`, or the parts that it needs of the capability. */
  needs(params: object): Record<string, object>
  /** Reports whether the client's declaration covers a request. */
  takes(declared: Record<string, unknown>, params: object): boolean
}
