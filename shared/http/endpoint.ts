import type * as z from 'zod'
import type { Work } from '#shared/foundation/work/index.ts'
import type { DeveloperRole } from '#shared/identity/developers/index.ts'
import type { Role } from '#shared/identity/people/index.ts'
import type { Capability } from '../kernel/capabilities.ts'
import type { ErrorCode } from '../kernel/errors.ts'
import type { IdKind } from '../kernel/ids.ts'
import { lazily } from '../kernel/lazily.ts'
import { type ANONYMOUS_RATES, LIMITS } from '../kernel/limits.ts'
import type { Scope } from '../kernel/scopes.ts'
import type { Caller, CallerKind, Callers, DeclaredKind, Reaching } from './callers.ts'
import { type PagedList, pagedHandler, pageQuery } from './paging.ts'
import type { RawResponse, StreamResponse } from './response.ts'

export type Group = 'oauth' | 'connect' | 'api' | 'mcp' | 'a2a' | 'developer' | 'console' | 'admin' | 'docs'
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** A schema created on first use. A cold start builds only the schemas that its first request needs. */
export type Lazy<S> = () => S

type Output<S> = S extends Lazy<z.ZodType<infer T>> ? T : undefined

export interface Context<C extends CallerKind, Params, Query, Body> {
  caller: Callers[C]
  params: Params
  query: Query
  body: Body
  work: Work
  /** The raw request, for the few endpoints that need it. */
  request: { headers: Record<string, string>; rawQuery: [string, string][]; sourceIp: string | undefined }
  /**
   * Authenticates and authorizes the caller again, for a handler that has waited, and returns them as they are now.
   * @throws if they lost access
   */
  recheck(): Promise<Callers[C]>
}

interface Definition<
  C extends DeclaredKind,
  P extends Record<string, IdKind | 'text'>,
  Q extends Lazy<z.ZodType> | undefined,
  B extends Lazy<z.ZodType> | undefined,
  R extends Lazy<z.ZodType> | undefined,
  Item,
  Loaded,
  H extends true | undefined,
> {
  /** `group.resource.verb`, the OpenAPI operationId. */
  id: string
  group: Group
  method: Method
  path: `/${string}`
  /** The path may end in a slash, as clients write the path of a folder. */
  isFolder?: true
  /** Further methods of the path, which another function serves. They are in `Allow`. */
  elsewhere?: readonly Method[]
  caller: C
  /** A resource of hosts: people call it through them, too (contract/connect.md#people-and-their-hosts). */
  hosts?: H
  /**
   * Buckets of a request without credentials (contract/general.md#anonymous-requests). If absent, the endpoint doesn't
   * use the store, or counts failures of a secret that it requires.
   */
  anonymous?: keyof typeof ANONYMOUS_RATES
  /** Allowed in a suspended workspace, because it changes nothing there or leaves the workspace. */
  whileSuspended?: true
  /** Allowed to an admin whose sign-in isn’t complete, because it completes or ends the sign-in. */
  whileSigningIn?: true
  /**
   * Asks an admin to confirm that it’s them, if the last confirmation is older than 10 minutes. Keys are exempt. `always`
   * also asks accounts that aren’t protected by a passkey and don’t have to be.
   */
  confirms?: true | 'always'
  /** Scope that an integration needs. If absent, any token is accepted. */
  scope?: Scope
  /** Minimum role of a console user, admin or developer. For developers see {@link developerRoleFor}. */
  role?: Role | DeveloperRole | 'superadmin' | 'moderator'
  summary: string
  description?: string
  /** Path parameters: the kind of id (any other shape is 404), or free text. */
  params?: P
  query?: Q
  body?: B
  /**
   * Format of the body. Default `json`. `json-rpc` is one JSON-RPC 2.0 message, which the handler checks itself: its body
   * reaches the handler unchecked, every error is a JSON-RPC error, and idempotency keys belong to what it calls. `ignored`
   * accepts any body and reads none.
   */
  consumes?: 'json' | 'form' | 'json-rpc' | 'ignored'
  /** Accepts any JSON value, because checking it is the endpoint's purpose. */
  anyJson?: true
  /** Ignores unknown fields where an RFC requires it (OAuth). Other endpoints reject them. */
  lenient?: boolean
  /** Maximum body size in bytes; default 256 KiB, and 8 KiB without credentials. */
  maxBodyBytes?: number
  /** Describes the success, such as the events of a stream. */
  answers?: string
  /** Success status; default 200. 204 has no body. */
  status?: 200 | 201 | 204 | 302
  response?: R
  /** An answer without a body instead, and its condition as a sentence for the reference. */
  orNothing?: { status: 202 | 204; when: string }
  /**
   * A list of `response` items that the pipeline pages, or the envelope that the handler returns: `page` for a short list in one
   * page, `offset` for admin lists.
   */
  list?: PagedList<Context<C, { [K in keyof P]: string }, Output<Q>, Output<B>>, Item, Loaded> | 'page' | 'offset'
  /** Schema of the object that a list adds to the envelope, such as an average over all of it. */
  also?: Lazy<z.ZodType>
  /** Media type of a non-JSON response; several if it depends on the request. */
  produces?: string | readonly string[]
  /**
   * Errors in the form of A2A: a JSON-RPC error, `google.rpc.Status`, or the error body of version 0.3. Idempotency keys
   * belong to the message.
   */
  speaks?: 'a2a' | 'a2a-0.3'
  /**
   * Follows RFC 6749 strictly: its error body, and a client may authenticate by HTTP Basic (contract/connect.md). A registration has
   * the codes of RFC 7591.
   */
  standard?: true | 'registration'
  /** People open it in a browser, which gets errors as a page. */
  showsErrors?: true
  /** The response has an entity tag. A request with a matching `If-None-Match` gets 304. */
  conditional?: true
  /** Pattern of the stream's `Last-Event-ID`. It also matches the empty id. */
  lastEventId?: RegExp
  /** Error codes beyond those of the endpoint's caller, scope, body and method. */
  errors?: readonly ErrorCode[]
  needs?: readonly Capability[]
  /**
   * May run longer than the gateway's 29 seconds, or answers with bytes, which the gateway passes on only in a stream. A streaming
   * function serves it.
   */
  waits?: true
  /** Of an endpoint that `waits`: only if the query has `wait`. Other requests lock their Idempotency-Key as briefly as usual. */
  waitsIfAsked?: true
  /**
   * Returns true if the response stored under an Idempotency-Key may be replayed. Default: always, while it is stored.
   * Otherwise the request runs as a new one, and its success replaces the stored response. The body is raw and
   * unvalidated.
   */
  replays?(
    work: Work,
    caller: Callers[Reaching<C, H>],
    body: unknown,
    params: { [K in keyof P]: string },
    kept: { body: string },
  ): Promise<boolean>
  /** Ends its caller's credential, which may request the lost response again under the same Idempotency-Key. */
  endsCredential?: true
  /** The response holds a secret or token: `Cache-Control: no-store`. */
  secret?: true
  /** Example response for the reference. */
  example?: unknown
  /** Answers the request; a paged list needs none. */
  handler?(
    context: Context<Reaching<C, H>, { [K in keyof P]: string }, Output<Q>, Output<B>>,
  ): Promise<(R extends Lazy<z.ZodType> ? object : undefined) | RawResponse | StreamResponse>
}

/** An endpoint with its types erased, as the router, infra, the OpenAPI document and the contract tests read it. */
export interface Endpoint
  extends Omit<
    // biome-ignore lint/suspicious/noExplicitAny: erased on purpose; defineEndpoint has checked the types
    Definition<DeclaredKind, any, any, any, any, any, any, true | undefined>,
    | 'handler'
    | 'list'
    | 'replays'
    | 'params'
    | 'query'
    | 'body'
    | 'response'
    | 'needs'
    | 'errors'
    | 'status'
    | 'maxBodyBytes'
  > {
  maxBodyBytes: number
  params: Record<string, IdKind | 'text'>
  query: Lazy<z.ZodType> | undefined
  body: Lazy<z.ZodType> | undefined
  response: Lazy<z.ZodType> | undefined
  status: 200 | 201 | 204 | 302
  needs: readonly Capability[]
  errors: readonly ErrorCode[]
  /** Envelope over `response` items: `page` with cursors, `offset` that of admin lists. */
  list?: 'page' | 'offset'
  replays?(
    work: Work,
    caller: Caller,
    body: unknown,
    params: Record<string, string>,
    kept: { body: string },
  ): Promise<boolean>
  handler(context: Context<CallerKind, Record<string, string>, unknown, unknown>): Promise<object | undefined>
}

/**
 * Declares an endpoint. Routing, infrastructure, the OpenAPI document and the tests all derive from this declaration.
 */
export const defineEndpoint = <
  C extends DeclaredKind,
  const P extends Record<string, IdKind | 'text'> = Record<never, 'text'>,
  Q extends Lazy<z.ZodType> | undefined = undefined,
  B extends Lazy<z.ZodType> | undefined = undefined,
  R extends Lazy<z.ZodType> | undefined = undefined,
  Item = unknown,
  Loaded = undefined,
  const H extends true | undefined = undefined,
>(
  definition: Definition<C, P, Q, B, R, Item, Loaded, H>,
): Endpoint => {
  const { list } = definition
  const isPaged = typeof list === 'object'
  return {
    ...definition,
    ...(isPaged && { list: 'page', handler: pagedHandler(definition.id, list) }),
    params: definition.params ?? {},
    query: memo(definition.query ?? (isPaged ? () => pageQuery({}) : undefined)),
    body: memo(definition.body),
    response: memo(definition.response),
    maxBodyBytes:
      definition.maxBodyBytes ?? (definition.caller === 'none' ? LIMITS.anonymousBodyBytes : LIMITS.bodyBytes),
    status: definition.status ?? 200,
    needs: definition.needs ?? [],
    errors: definition.errors ?? [],
  } as unknown as Endpoint
}

/**
 * Returns true if an answer is stored under an Idempotency-Key. Not for an anonymous endpoint that can't write: a repeat
 * does no harm, and a stored answer would give strangers room in the table. Nor for one that has no rate limit because its
 * handler checks a secret: strangers would lock keys before the check, and what it takes counts once anyway.
 */
export const keepsAnswers = ({ method, caller, needs, consumes, speaks, anonymous }: Endpoint): boolean =>
  method === 'POST' &&
  consumes !== 'json-rpc' &&
  !speaks &&
  (caller !== 'none' || (anonymous !== undefined && needs.includes('table:write')))

/** Returns the rights in a developer account that an endpoint needs: to read, those of a viewer, and else a developer's. */
export const developerRoleFor = ({ role, method }: Pick<Endpoint, 'role' | 'method'>): DeveloperRole =>
  (role as DeveloperRole | undefined) ?? (method === 'GET' ? 'viewer' : 'developer')

const memo = <S>(make: Lazy<S> | undefined): Lazy<S> | undefined => make && lazily(make)
