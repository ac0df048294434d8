import middy from '@middy/core'
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda'
import type { Deps } from '../domain/deps.ts'
import { isActive } from '../entities/run-status.ts'
import { fail, type PlatformError } from '../kernel/errors.ts'
import { newId } from '../kernel/ids.ts'
import { unusable } from '../kernel/usable.ts'
import { StreamAnswer } from './answer.ts'
import type { Authenticator, Authenticators } from './authenticate/types.ts'
import { authorize } from './authorize.ts'
import type { CallerKind } from './callers.ts'
import type { Endpoint } from './endpoint.ts'
import { type Exchange, endpointOf, type Middleware, readExchange, step } from './exchange.ts'
import { countFailure } from './failures.ts'
import { checkKey, type Hold, hold } from './idempotency.ts'
import { check, parseForm, parseJson, parseParameters, parseQuery } from './parse.ts'
import { preflight } from './preflight.ts'
import { answerOf, errorAnswer, toPlatformError, toResult } from './render.ts'
import { record } from './request-log.ts'
import { createMatcher, type Router } from './router.ts'
import { streamed } from './streamed.ts'
import { callerName, workOf } from './work.ts'

export type RequestHandler = (event: APIGatewayProxyEvent, context: Context) => Promise<APIGatewayProxyResult>

/**
 * The one way of every request, whatever the group: request id, route, who calls, may they, what they sent, was it sent
 * before, is it valid, the handler, the answer. The first step that refuses ends the request in the platform's error shape.
 * @param authenticators one for each kind of caller that the endpoints have
 * @param deps made once per function instance, at its first request
 */
export const createPipeline = (
  endpoints: readonly Endpoint[],
  authenticators: Authenticators,
  deps: () => Promise<Deps>,
): RequestHandler => {
  const unknown = endpoints.find(({ caller }) => caller !== 'none' && !authenticators[caller])
  if (unknown) throw new Error(`nothing here authenticates the caller of ${unknown.id}: ${unknown.caller}`)
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
      throw new Error('the answer step has answered already')
    })
  return pipeline as unknown as RequestHandler
}

/** First in, last out: makes the exchange; renders what any later step threw; logs. */
const opening = (deps: () => Promise<Deps>): Middleware => ({
  name: 'opening',
  before: async (request) => {
    const made = await deps()
    request.internal.exchange = readExchange(made, request.event, newId('request', made.clock.now()))
  },
  onError: async (request) => {
    const { exchange } = request.internal
    // Nothing can be answered in our shape before the settings are read; the gateway answers for us.
    if (!exchange) return
    const error = toPlatformError(request.error)
    exchange.errorCode = error.code
    if (error.code === 'internal_error') {
      exchange.deps.log.error('request failed', { request_id: exchange.requestId, error: error.cause ?? error })
    }
    request.response = toResult(exchange, errorAnswer(exchange, error))
    record(exchange, request.response.statusCode)
  },
})

const route =
  (match: Router) =>
  (exchange: Exchange): void => {
    const { endpoint, params } = match(exchange.method, exchange.path)
    exchange.endpoint = endpoint
    exchange.params = params
  }

const DEFAULT_BODY_BYTES = 256 * 1_024

/** Read once: before authentication only for clients that identify themselves in it. */
const readBody = (exchange: Exchange): void => {
  if (exchange.body !== undefined) return
  const { maxBodyBytes = DEFAULT_BODY_BYTES, consumes, body, method, caller } = endpointOf(exchange)
  const { rawBody, headers } = exchange
  if (method === 'GET') return
  const bytes = Buffer.byteLength(rawBody)
  if (bytes > maxBodyBytes) {
    throw fail('payload_too_large', { message: `The body has ${bytes} bytes; at most ${maxBodyBytes} here.` })
  }
  const parse = consumes === 'form' ? parseForm : caller === 'client' ? parseParameters : parseJson
  exchange.body = parse(rawBody, headers['content-type'])
  if (body) return
  const plain = typeof exchange.body === 'object' && exchange.body !== null && !Array.isArray(exchange.body)
  const given = plain ? Object.keys(exchange.body as object) : ['body']
  if (given.length > 0) {
    throw fail('validation_error', {
      message: 'This request takes no body.',
      details: { fields: Object.fromEntries(given.map((name) => [name, ['unknown field']])) },
    })
  }
}

const identify =
  (authenticators: Authenticators) =>
  async (exchange: Exchange): Promise<void> => {
    const endpoint = endpointOf(exchange)
    if (endpoint.caller === 'none') return
    if (endpoint.caller === 'client') readBody(exchange)
    const { deps, headers, method, query, body, sourceIp } = exchange
    const authenticate = authenticators[endpoint.caller] as Authenticator<CallerKind>
    try {
      const { caller, headers: rate } = await authenticate(deps, { headers, method, query, body })
      exchange.caller = caller
      exchange.answerHeaders = rate
    } catch (error) {
      throw await countFailure(deps, sourceIp, error)
    }
    authorize(endpoint, exchange.caller)
    exchange.recheck = async () => {
      const { caller } = await authenticate(deps, { headers, method, query, body, again: true })
      authorize(endpoint, caller)
    }
  }

/** Codes whose answers are not kept: the same key may try again (decisions §1). */
const NOT_KEPT = new Set(['insufficient_scope', 'scope_denied_by_admin', 'app_suspended', 'installation_suspended'])
const notKept = (status: number, code: string | undefined): boolean =>
  status === 401 || status === 413 || status === 415 || status === 429 || status >= 500 || NOT_KEPT.has(code ?? '')

const idempotency: Middleware = {
  name: 'idempotency',
  before: async (request) => {
    const { exchange } = request.internal
    const key = exchange.headers['idempotency-key']
    if (exchange.method !== 'POST' || key === undefined) return undefined
    const { deps, caller, path, rawBody, requestId } = exchange
    const name = callerName(caller)
    checkKey(key, name === undefined)
    const scope = `${name ?? `anonymous ${rawBody}`}\nPOST ${path}\n${key}`
    const endpoint = endpointOf(exchange)
    const held = await hold(deps, scope, rawBody, requestId, endpoint.waits ?? false)
    const { replay } = held
    if (!replay) {
      exchange.hold = held
      return undefined
    }
    const { body, params } = exchange
    if ((await endpoint.replays?.(workOf(exchange), caller, body, params, replay)) === false) {
      exchange.hold = held
      return undefined
    }
    const result = toResult(exchange, {
      ...replay,
      headers: { ...replay.headers, 'idempotency-replayed': 'true' },
    })
    record(exchange, result.statusCode)
    return result
  },
  onError: async ({ internal: { exchange }, error }) => {
    if (!exchange?.hold || exchange.hold.replay || exchange.committed) return
    try {
      await settle(exchange, exchange.hold, toPlatformError(error))
    } catch (cause) {
      // The store is out of reach, say. The client still gets the error itself; the key is free once its lock has ended.
      exchange.deps.log.error('an idempotency record stays locked', { request_id: exchange.requestId, error: cause })
    }
  },
}

/** Keeps an error's answer, or frees the key where the same request may come out otherwise. */
const settle = async (exchange: Exchange, held: Hold, failure: PlatformError): Promise<void> => {
  const again = notKept(failure.status, failure.code) || failure.headers['retry-after'] !== undefined
  if (again) await held.release(failure.status < 500)
  else await keep(exchange, errorAnswer(exchange, failure))
}

const keep = async (exchange: Exchange, answerToKeep: ReturnType<typeof answerOf>): Promise<void> => {
  if (!exchange.hold) return
  const headers = { ...answerToKeep.headers, 'x-request-id': exchange.requestId }
  await exchange.deps.table.transact([await exchange.hold.completion({ ...answerToKeep, headers })])
}

/** Validates, runs the handler, answers. */
const answer: Middleware = {
  name: 'answer',
  before: async ({ internal: { exchange } }) => {
    const endpoint = endpointOf(exchange)
    const { caller, params, headers, query: rawQuery, sourceIp } = exchange
    endedRun(exchange)
    const query = endpoint.lenient ? rawQuery : readQuery(endpoint, rawQuery)
    refuseUnusable(exchange)
    const body = endpoint.body ? check(endpoint.body(), exchange.body) : undefined
    const value = await endpoint.handler({
      caller,
      params,
      query,
      body,
      work: workOf(exchange),
      request: { headers, rawQuery, sourceIp },
    })
    if (value instanceof StreamAnswer) return streamed(exchange, value)
    const finished = exchange.committed ?? answerOf(exchange, value)
    if (!exchange.committed && exchange.hold) {
      if (isAwaiting(value)) await exchange.hold.release(true)
      else await keep(exchange, finished)
    }
    const result = toResult(exchange, finished)
    record(exchange, result.statusCode)
    return result
  },
}

/** What neither the table nor a serializer takes is refused before anything is made of it. */
const refuseUnusable = (exchange: Exchange): void => {
  if (endpointOf(exchange).anyJson) return
  const wrong = unusable(exchange.body)
  if (wrong) throw fail('validation_error', { message: wrong, details: { fields: { body: [wrong] } } })
}

/** The answer "awaiting approval" is not kept: the same call later finds the decision. */
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

/** After its run's end a callback token writes nothing any more (decisions §2). Replays of what it wrote come earlier. */
const endedRun = ({ caller, method }: Exchange): void => {
  if (caller.kind !== 'integration' || !caller.run || method === 'GET') return
  if (!isActive(caller.run.status)) throw fail('run_already_finished')
}
