import middy from '@middy/core'
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda'
import { claimedClient } from '#shared/access/assertions/index.ts'
import { causedBy } from '#shared/foundation/outbox/index.ts'
import { TOKENS } from '#shared/foundation/tokens/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { isHostClientId } from '#shared/kernel/host-resources.ts'
import { isActive } from '#shared/work/runs/index.ts'
import { addLogIds } from '../adapters/logger.ts'
import { fail, type PlatformError } from '../kernel/errors.ts'
import { newId } from '../kernel/ids.ts'
import { findUnstorable } from '../kernel/storable.ts'
import { readTraceHeaders } from '../kernel/tracing/context.ts'
import { continueTrace, exportingSpans, inScope } from '../kernel/tracing/scope.ts'
import { limitAnonymous } from './anonymous.ts'
import type { Authenticator, Authenticators } from './authenticate/types.ts'
import { authorize, requireConfirmation } from './authorize.ts'
import { bearerOf, claimedTokenType } from './bearer-token.ts'
import { type CallerKind, callerName, callersOf, THROUGH_HOSTS } from './callers.ts'
import { type Endpoint, keepsAnswers } from './endpoint.ts'
import {
  type Exchange,
  endpointOf,
  type Middleware,
  type RequestHandler,
  readExchange,
  readHeaders,
  routeOf,
  step,
} from './exchange.ts'
import { countFailure } from './failed-authentications.ts'
import { checkIdempotencyKey, type IdempotencyLock, isRetryable, lockIdempotencyKey } from './idempotency.ts'
import { pathIds } from './log-ids.ts'
import { check, parseForm, parseJson, parseParameters, parseQuery } from './parse.ts'
import { preflight } from './preflight.ts'
import { renderError, renderValue, toPlatformError, toResult } from './render.ts'
import { logRequest } from './request-log.ts'
import { createRequestWork } from './request-work.ts'
import { StreamResponse } from './response.ts'
import { loadEndpoint, type Route, type Served } from './route.ts'
import { createMatcher, type Router } from './router.ts'
import { streamResult } from './streamed.ts'

/**
 * Creates the request pipeline. Every request takes this path: route, authenticate, authorize, check idempotency,
 * validate, handle, render. The first step that throws ends the request with a platform error.
 * An endpoint that isn't loaded yet is loaded while its caller is authenticated.
 * @param authenticators one for each kind of caller that the endpoints have
 * @param deps created once per function instance, at its first request
 */
export const createPipeline = (
  endpoints: readonly Served[],
  authenticators: Authenticators,
  deps: () => Promise<Deps>,
): RequestHandler => {
  for (const { id, caller, hosts } of endpoints) {
    for (const kind of callersOf({ caller, hosts })) {
      if (kind !== 'none' && !authenticators[kind]) throw new Error(`no authenticator for the caller of ${id}: ${kind}`)
    }
  }
  const match = createMatcher(endpoints)
  const pipeline = middy<APIGatewayProxyEvent, APIGatewayProxyResult, Error, Context, { exchange: Exchange }>()
    .use([
      opening(deps),
      preflight,
      step('route', route(match)),
      step('authenticate', identify(authenticators)),
      step('body', readBody),
      idempotency,
      answer,
    ])
    .handler(() => {
      throw new Error('no step may follow the answer step')
    })
  return tracing(deps, pipeline as unknown as RequestHandler)
}

/** Runs each request in the trace that its headers name, and exports its spans. */
const tracing =
  (deps: () => Promise<Deps>, handle: RequestHandler): RequestHandler =>
  async (event, context) => {
    const { traces } = await deps()
    const name = event.httpMethod
    return exportingSpans(traces, (invocation) =>
      inScope({ invocation, ...readTraceHeaders(readHeaders(event)), span: { name, kind: 'server' } }, () =>
        handle(event, context),
      ),
    )
  }

/** Runs first on the way in and last on the way out: creates the exchange, renders errors of later steps, and logs. */
const opening = (deps: () => Promise<Deps>): Middleware => ({
  name: 'opening',
  before: async (request) => {
    const made = await deps()
    request.internal.exchange = readExchange(made, request.event, newId('request', made.clock.now()))
    addLogIds({ request_id: request.internal.exchange.requestId })
  },
  onError: async (request) => {
    const { exchange } = request.internal
    // A platform error can't be rendered before the settings are read. The gateway answers instead.
    if (!exchange) return
    const error = toPlatformError(request.error)
    exchange.errorCode = error.code
    if (error.code === 'internal_error' || error.code === 'unavailable') {
      exchange.deps.log.error('request failed', { request_id: exchange.requestId, error: error.cause ?? error })
    }
    request.response = toResult(exchange, renderError(exchange, error))
    logRequest(exchange, request.response.statusCode)
  },
})

const route =
  (match: Router<Served>) =>
  (exchange: Exchange): void => {
    const { route, params } = match(exchange.method, exchange.path)
    exchange.route = route
    exchange.params = params()
    addLogIds(pathIds(exchange.params))
  }

/** Reads the body once. Only clients that identify themselves in the body need it before authentication. */
const readBody = (exchange: Exchange): void => {
  if (exchange.body !== undefined) return
  const { maxBodyBytes, consumes, body, method, caller } = endpointOf(exchange)
  const { rawBody, headers } = exchange
  if (method === 'GET') return
  const bytes = Buffer.byteLength(rawBody)
  if (bytes > maxBodyBytes) {
    throw fail('payload_too_large', {
      message: `The body has ${bytes} bytes. The limit of this endpoint is ${maxBodyBytes}.`,
    })
  }
  if (consumes === 'ignored') {
    exchange.body = {}
    return
  }
  const parse = consumes === 'form' ? parseForm : caller === 'client' ? parseParameters : parseJson
  exchange.body = parse(rawBody, headers['content-type'])
  if (body) return
  const plain = typeof exchange.body === 'object' && exchange.body !== null && !Array.isArray(exchange.body)
  const given = plain ? Object.keys(exchange.body as object) : ['body']
  if (given.length > 0) {
    throw fail('validation_error', {
      message: 'This endpoint takes no body.',
      details: { fields: Object.fromEntries(given.map((name) => [name, ['unknown field']])) },
    })
  }
}

const identify =
  (authenticators: Authenticators) =>
  async (exchange: Exchange): Promise<void> => {
    const route = routeOf(exchange)
    const loading = loadEndpoint(route)
    // If authentication fails, the request ends before this is awaited.
    loading.catch(() => {})
    if (route.caller === 'none') {
      await limitAnonymous(exchange.deps, route, exchange.sourceIp)
      exchange.endpoint = await loading
      return
    }
    if (route.caller === 'client') {
      exchange.endpoint = await loading
      readBody(exchange)
    }
    const { deps, headers, method, query, body, sourceIp } = exchange
    const authenticate = authenticators[kindOf(route, exchange)] as Authenticator<Exclude<CallerKind, 'none'>>
    const credentials = { headers, method, path: exchange.path, query, body, sourceIp, standard: route.standard }
    try {
      const { caller, headers: rate } = await authenticate(deps, credentials)
      exchange.caller = caller
      exchange.answerHeaders = rate
      // An agent that sends no trace still works for the one of its run.
      if (caller.kind === 'integration') continueTrace(caller.run?.trace)
    } catch (error) {
      throw await countFailure(deps, sourceIp, error)
    }
    const endpoint = await loading
    exchange.endpoint = endpoint
    authorize(endpoint, exchange.caller)
    requireConfirmation(endpoint, exchange.caller)
    exchange.recheck = async () => {
      const { caller } = await authenticate(deps, { ...credentials, again: true })
      authorize(endpoint, caller)
      return caller
    }
  }

/** Returns the kind of caller that a request claims to be, of those that reach the endpoint. */
const kindOf = ({ caller, hosts }: Route, { headers, body }: Exchange): Exclude<CallerKind, 'none'> => {
  const token = hosts && caller === 'integration' ? bearerOf(headers) : undefined
  if (hosts && caller === 'client') {
    const { client_id, client_assertion } = (body ?? {}) as Record<string, unknown>
    if (isHostClientId(client_id || claimedClient(client_assertion))) return THROUGH_HOSTS.client
  }
  const isPerson = token !== undefined && claimedTokenType(token) === TOKENS.person.typ
  return isPerson ? THROUGH_HOSTS.integration : (caller as Exclude<CallerKind, 'none'>)
}

/** Returns true if the request may outlast the gateway's 29 seconds. */
const waitsNow = (exchange: Exchange): boolean => {
  const { waits, waitsIfAsked } = endpointOf(exchange)
  return waits === true && (!waitsIfAsked || exchange.query.some(([name]) => name === 'wait'))
}

/** Returns true if an anonymous request changed nothing. Storing its answer would give strangers room in the table. */
const hadNoEffect = ({ caller, changed }: Exchange): boolean => caller.kind === 'none' && !changed

const idempotency: Middleware = {
  name: 'idempotency',
  before: async (request) => {
    const { exchange } = request.internal
    const key = exchange.headers['idempotency-key']
    if (exchange.method !== 'POST' || key === undefined) return undefined
    const { deps, caller, path, rawBody, requestId } = exchange
    const name = callerName(caller)
    checkIdempotencyKey(key, name === undefined)
    if (!keepsAnswers(endpointOf(exchange))) return undefined
    const scope = `${name ?? `anonymous ${rawBody}`}\nPOST ${path}\n${key}`
    const endpoint = endpointOf(exchange)
    const lock = await lockIdempotencyKey(deps, scope, rawBody, requestId, {
      long: waitsNow(exchange),
      workspaceId: 'workspace' in caller ? caller.workspace.id : undefined,
    })
    const { replay } = lock
    if (!replay) {
      exchange.lock = lock
      return undefined
    }
    const { body, params } = exchange
    if ((await endpoint.replays?.(createRequestWork(exchange), caller, body, params, replay)) === false) {
      exchange.lock = lock
      return undefined
    }
    const result = toResult(exchange, {
      ...replay,
      headers: { ...replay.headers, 'idempotency-replayed': 'true' },
    })
    logRequest(exchange, result.statusCode)
    return result
  },
  onError: async ({ internal: { exchange }, error }) => {
    if (!exchange?.lock || exchange.lock.replay || exchange.committed) return
    try {
      await settle(exchange, exchange.lock, toPlatformError(error))
    } catch (cause) {
      // The table may be unavailable, for example. The client still gets the error itself, and the key is free when its
      // lock expires.
      exchange.deps.log.error('an idempotency record stays locked', { request_id: exchange.requestId, error: cause })
    }
  },
}

/** Stores an error's response, or frees the key if a retry of the same request may have another outcome. */
const settle = async (exchange: Exchange, lock: IdempotencyLock, failure: PlatformError): Promise<void> => {
  if (isRetryable(failure) || hadNoEffect(exchange)) await lock.release(failure.status < 500)
  else await keep(exchange, renderError(exchange, failure))
}

const keep = async (exchange: Exchange, answerToKeep: ReturnType<typeof renderValue>): Promise<void> => {
  if (!exchange.lock) return
  const headers = { ...answerToKeep.headers, 'x-request-id': exchange.requestId }
  await exchange.deps.table.transact([await exchange.lock.completion({ ...answerToKeep, headers })])
}

/** Validates the request, runs the handler and renders the response. */
const answer: Middleware = {
  name: 'answer',
  before: async ({ internal: { exchange } }) => {
    const endpoint = endpointOf(exchange)
    const { caller, params, headers, query: rawQuery, sourceIp } = exchange
    endedRun(exchange)
    const query = endpoint.lenient ? rawQuery : readQuery(endpoint, rawQuery)
    refuseUnusable(exchange)
    const body = endpoint.body && bodyOf(endpoint.body, exchange)
    const handle = () =>
      endpoint.handler({
        caller,
        params,
        query,
        body,
        work: createRequestWork(exchange),
        request: { headers, rawQuery, sourceIp },
        recheck: async () => (await exchange.recheck?.()) ?? caller,
      })
    const isOfRun = caller.kind === 'integration' && caller.run
    const value = await (isOfRun ? causedBy(isOfRun, handle) : handle())
    if (value instanceof StreamResponse) return await streamResult(exchange, value)
    const finished = exchange.committed ?? renderValue(exchange, value)
    if (!exchange.committed && exchange.lock) {
      if (isAwaiting(value) || hadNoEffect(exchange)) await exchange.lock.release(true)
      else await keep(exchange, finished)
    }
    const result = toResult(exchange, finished)
    logRequest(exchange, result.statusCode)
    return result
  },
}

/** Returns the validated body. A JSON-RPC message is its handler's to validate, because it knows the protocol's errors. */
const bodyOf = (schema: NonNullable<Endpoint['body']>, exchange: Exchange): unknown =>
  endpointOf(exchange).consumes === 'json-rpc' ? exchange.body : check(schema(), exchange.body)

/** Rejects values that neither the table nor a serializer accepts, before they are used. */
const refuseUnusable = (exchange: Exchange): void => {
  if (endpointOf(exchange).anyJson) return
  const wrong = findUnstorable(exchange.body)
  if (wrong) throw fail('validation_error', { message: wrong, details: { fields: { body: [wrong] } } })
}

/**
 * Returns true for "awaiting approval". That response is not stored, because the same call later finds the decision.
 */
const isAwaiting = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  'status' in value &&
  'step_id' in value &&
  value.status === 'awaiting_approval'

const readQuery = (endpoint: Endpoint, pairs: [string, string][]): unknown => {
  const query = parseQuery(pairs)
  if (endpoint.query) return check(endpoint.query(), query, 'The query')
  const [unknown] = Object.keys(query)
  if (unknown === undefined) return undefined
  throw fail('validation_error', {
    message: 'This endpoint takes no query parameters.',
    details: { fields: Object.fromEntries(Object.keys(query).map((name) => [name, ['unknown field']])) },
  })
}

/**
 * Rejects writes with a callback token after the end of its run (contract/oauth-and-tokens.md#callback-tokens). Replays
 * of earlier writes are answered before this step.
 */
const endedRun = ({ caller, method }: Exchange): void => {
  if (caller.kind !== 'integration' || !caller.run || method === 'GET') return
  if (!isActive(caller.run.status)) throw fail('run_already_finished')
}
