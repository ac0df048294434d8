import type { Deps } from '../../domain/deps.ts'
import type { Caller, CallerKind, Callers } from '../callers.ts'
import type { Method } from '../endpoint.ts'

export interface Credentials {
  headers: Record<string, string>
  method: Method
  query: [string, string][]
  /** The parsed body, for clients that identify themselves in it. */
  body: unknown
  /** A long answer asks whether its caller still stands: one request all the same, so the rate limits count it no more. */
  again?: true
}

export interface Authenticated<C extends Caller = Caller> {
  caller: C
  /** Rate headers of the answer. */
  headers: Record<string, string>
}

/** Finds out who calls: one batch read of everything that decides it, with the rate limits' writes at the same time. */
export type Authenticator<K extends CallerKind> = (
  deps: Deps,
  credentials: Credentials,
) => Promise<Authenticated<Callers[K]>>

/** A function carries the authenticators of its endpoints' callers, and no others: each brings records and rules along. */
export type Authenticators = { [K in Exclude<CallerKind, 'none'>]?: Authenticator<K> }
