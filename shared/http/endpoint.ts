import type * as z from 'zod'
import type { Work } from '../domain/deps.ts'
import type { Role } from '../entities/people.ts'
import type { Capability } from '../kernel/capabilities.ts'
import type { ErrorCode } from '../kernel/errors.ts'
import type { IdKind } from '../kernel/ids.ts'
import type { Scope } from '../kernel/scopes.ts'
import type { RawAnswer, StreamAnswer } from './answer.ts'
import type { Caller, CallerKind, Callers } from './callers.ts'

export type Group = 'oauth' | 'api' | 'developer' | 'console' | 'admin' | 'docs'
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** A schema made at first use: a cold start builds only what its first request needs. */
export type Lazy<S> = () => S

type Output<S> = S extends Lazy<z.ZodType<infer T>> ? T : undefined

export interface Context<C extends CallerKind, Params, Query, Body> {
  caller: Callers[C]
  params: Params
  query: Query
  body: Body
  work: Work
  /** The request as it came, for the few that need it. */
  request: { headers: Record<string, string>; rawQuery: [string, string][]; sourceIp: string | undefined }
}

interface Definition<
  C extends CallerKind,
  P extends Record<string, IdKind | 'text'>,
  Q extends Lazy<z.ZodType> | undefined,
  B extends Lazy<z.ZodType> | undefined,
  R extends Lazy<z.ZodType> | undefined,
> {
  /** `group.resource.verb`, the OpenAPI operationId. */
  id: string
  group: Group
  method: Method
  path: `/${string}`
  caller: C
  /** A person may do it, too, where the platform’s staff suspended the workspace: it changes nothing there, or leaves it. */
  whileSuspended?: true
  /** Scope an integration needs; none: any token. */
  scope?: Scope
  /** Least role of a console user, or of an admin. */
  role?: Role | 'superadmin' | 'moderator'
  summary: string
  description?: string
  /** Path parameters: the kind of id (any other shape is 404), or free text. */
  params?: P
  query?: Q
  body?: B
  /** How the body is written. Default `json`. */
  consumes?: 'json' | 'form'
  /** Takes any JSON value at all: checking it is what the endpoint is for. */
  anyJson?: true
  /** Unknown fields are refused unless an RFC says to ignore them (OAuth). */
  lenient?: boolean
  /** Bytes of body allowed; default 256 KiB. */
  maxBodyBytes?: number
  /** Default 200. 204 has no body. */
  status?: 200 | 201 | 204 | 302
  response?: R
  /** When it answers 204 instead, in a sentence for the reference. */
  nothingWhen?: string
  /** Over `response` items: `page` the list envelope, `offset` that of admin lists. */
  list?: 'page' | 'offset'
  /** What a list has beside the envelope, such as an average over all of it: an object's schema. */
  beside?: Lazy<z.ZodType>
  /** Media type of an answer that is not JSON as it is declared; several where it depends on what is asked for. */
  produces?: string | readonly string[]
  /** Its answer has an entity tag: with `If-None-Match` it is 304 for whoever has it already. */
  conditional?: true
  /** What the `Last-Event-ID` of an event stream looks like; it matches the empty one, too. */
  lastEventId?: RegExp
  /** Codes that this endpoint can answer beyond those of its caller, scope, body and method. */
  errors?: readonly ErrorCode[]
  needs?: readonly Capability[]
  /** May outlast the gateway's 29 seconds: served by the streaming function. */
  waits?: true
  /**
   * May the answer that is kept under an Idempotency-Key still be given? Absent: yes, for as long as it is kept. When not,
   * the request is treated as a new one, and what it succeeds with is kept instead. The body is as it came, not yet checked.
   */
  replays?(
    work: Work,
    caller: Callers[C],
    body: unknown,
    params: { [K in keyof P]: string },
    kept: { body: string },
  ): Promise<boolean>
  /** It ends its caller's credential, which may ask for the lost answer once more under the same Idempotency-Key. */
  endsCredential?: true
  /** Its answer holds a secret or token: `Cache-Control: no-store`. */
  secret?: true
  /** An example answer for the reference. */
  example?: unknown
  handler(
    context: Context<C, { [K in keyof P]: string }, Output<Q>, Output<B>>,
  ): Promise<(R extends Lazy<z.ZodType> ? object : undefined) | RawAnswer | StreamAnswer>
}

/** An endpoint with its types erased: what the router, infra, the OpenAPI document and the contract tests read. */
export interface Endpoint
  extends Omit<
    // biome-ignore lint/suspicious/noExplicitAny: erased on purpose; defineEndpoint has checked the types
    Definition<CallerKind, any, any, any, any>,
    'handler' | 'replays' | 'params' | 'query' | 'body' | 'response' | 'needs' | 'errors' | 'status'
  > {
  params: Record<string, IdKind | 'text'>
  query: Lazy<z.ZodType> | undefined
  body: Lazy<z.ZodType> | undefined
  response: Lazy<z.ZodType> | undefined
  status: 200 | 201 | 204 | 302
  needs: readonly Capability[]
  errors: readonly ErrorCode[]
  replays?(
    work: Work,
    caller: Caller,
    body: unknown,
    params: Record<string, string>,
    kept: { body: string },
  ): Promise<boolean>
  handler(context: Context<CallerKind, Record<string, string>, unknown, unknown>): Promise<object | undefined>
}

/** Declares an endpoint once: everything else that knows of it reads this declaration. */
export const defineEndpoint = <
  C extends CallerKind,
  const P extends Record<string, IdKind | 'text'> = Record<never, 'text'>,
  Q extends Lazy<z.ZodType> | undefined = undefined,
  B extends Lazy<z.ZodType> | undefined = undefined,
  R extends Lazy<z.ZodType> | undefined = undefined,
>(
  definition: Definition<C, P, Q, B, R>,
): Endpoint =>
  ({
    ...definition,
    params: definition.params ?? {},
    query: memo(definition.query),
    body: memo(definition.body),
    response: memo(definition.response),
    status: definition.status ?? 200,
    needs: definition.needs ?? [],
    errors: definition.errors ?? [],
  }) as unknown as Endpoint

const memo = <S>(make: Lazy<S> | undefined): Lazy<S> | undefined => {
  if (!make) return undefined
  let made: S | undefined
  return () => {
    made ??= make()
    return made
  }
}
