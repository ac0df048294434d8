import type { Deps } from '#shared/foundation/work/index.ts'
import type { Caller, CallerKind, Callers } from '../callers.ts'
import type { Method } from '../endpoint.ts'

export interface Credentials {
  headers: Record<string, string>
  method: Method
  path: string
  query: [string, string][]
  /** The parsed body, for clients that identify themselves in it. */
  body: unknown
  sourceIp: string | undefined
  /** True at an endpoint of the issuer that follows the RFCs strictly. */
  standard?: true | 'registration' | undefined
  /** True if a long response checks its caller again. The rate limits count it only once, as one request. */
  again?: true
}

export interface Authenticated<C extends Caller = Caller> {
  caller: C
  /** Rate limit headers of the response. */
  headers: Record<string, string>
}

/** Identifies the caller. One batch read loads everything that decides it, in parallel with the rate limits' writes. */
export type Authenticator<K extends CallerKind> = (
  deps: Deps,
  credentials: Credentials,
) => Promise<Authenticated<Callers[K]>>

/**
 * The authenticators of one function. A function carries only those that its endpoints need, because each brings
 * records and rules along.
 */
export type Authenticators = { [K in Exclude<CallerKind, 'none'>]?: Authenticator<K> }
