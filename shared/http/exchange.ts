import type { MiddlewareObj } from '@middy/core'
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda'
import type { Deps } from '#shared/foundation/work/index.ts'
import type { Caller } from './callers.ts'
import type { Endpoint, Method } from './endpoint.ts'
import type { IdempotencyLock, StoredResponse } from './idempotency.ts'
import type { Served } from './route.ts'

/** State shared by the steps of one request. */
export interface Exchange {
  deps: Deps
  requestId: string
  startedAt: number
  /** GET for a HEAD request, which takes the same path. */
  method: Method
  /** The request is a HEAD: it gets GET's answer without the body, and changes nothing (RFC 9110 §9.3.2). */
  isHead: boolean
  path: string
  headers: Record<string, string>
  query: [string, string][]
  rawBody: string
  /**
   * The client's address: from the gateway, or from the edge if there is one. Never a value that the caller controls.
   */
  sourceIp: string | undefined
  /** Known after the route step. */
  route: Served | undefined
  /** Loaded after the authenticate step. */
  endpoint: Endpoint | undefined
  params: Record<string, string>
  body: unknown
  caller: Caller
  /**
   * Returns the caller as they are now. Throws if they are no longer allowed what was allowed at the start of the request. Set
   * after authorization.
   */
  recheck: (() => Promise<Caller>) | undefined
  /** Response headers that do not come from the handler: rate limits. */
  answerHeaders: Record<string, string>
  lock: IdempotencyLock | undefined
  /** The request committed a change. */
  changed: boolean
  /** The response stored in the request's own transaction. */
  committed: StoredResponse | undefined
  errorCode: string | undefined
}

export type Middleware = MiddlewareObj<
  APIGatewayProxyEvent,
  APIGatewayProxyResult,
  Error,
  Context,
  { exchange: Exchange }
>

/** Wraps a step that reads and completes the exchange. A step ends the request only by throwing. */
export const step = (name: string, run: (exchange: Exchange) => Promise<void> | void): Middleware => ({
  name,
  before: async ({ internal }) => {
    await run(internal.exchange)
  },
})

/** Returns the route. Call only after the route step. */
export const routeOf = ({ route }: Exchange): Served => {
  if (!route) throw new Error('the request has no route yet')
  return route
}

/** Returns the endpoint. Call only after the authenticate step. */
export const endpointOf = ({ endpoint }: Exchange): Endpoint => {
  if (!endpoint) throw new Error('the request has no endpoint yet')
  return endpoint
}

/** Header in which the edge passes the client's address (infra/edge.ts). */
export const VIEWER_HEADER = 'x-viewer-address'

/** Reads the headers of an API Gateway proxy event. Names are lower-cased, and values of repeated headers are joined. */
export const readHeaders = (
  event: Pick<APIGatewayProxyEvent, 'headers' | 'multiValueHeaders'>,
): Record<string, string> => {
  const headers: Record<string, string> = Object.create(null)
  for (const [name, values] of Object.entries(event.multiValueHeaders ?? {})) {
    headers[name.toLowerCase()] = (values ?? []).join(', ')
  }
  for (const [name, value] of Object.entries(event.headers ?? {})) headers[name.toLowerCase()] ??= value ?? ''
  return headers
}

/** People enter the address of the MCP server with a slash at its end, which hosts then use, in their look-up of its metadata too. */
const MCP_WITH_SLASH = /^((?:\/\.well-known\/oauth-protected-resource)?\/mcp(?:\/.+)?)\/$/

/** Reads an API Gateway proxy event (payload 1.0). */
export const readExchange = (deps: Deps, event: APIGatewayProxyEvent, requestId: string): Exchange => {
  const headers = readHeaders(event)
  const isHead = event.httpMethod === 'HEAD'
  const query = Object.entries(event.multiValueQueryStringParameters ?? {}).flatMap(([name, values]) =>
    (values ?? []).map((value): [string, string] => [name, value]),
  )
  return {
    deps,
    requestId,
    startedAt: performance.now(),
    method: isHead ? 'GET' : (event.httpMethod as Method),
    isHead,
    path: MCP_WITH_SLASH.exec(event.path)?.[1] ?? event.path,
    headers,
    query,
    rawBody:
      event.body === null ? '' : event.isBase64Encoded ? Buffer.from(event.body, 'base64').toString() : event.body,
    // Behind the edge, the gateway sees the edge's address and rejects requests that bypass the edge.
    sourceIp: deps.settings.edge ? headers[VIEWER_HEADER] : event.requestContext?.identity?.sourceIp,
    route: undefined,
    endpoint: undefined,
    params: {},
    body: undefined,
    caller: { kind: 'none' },
    recheck: undefined,
    answerHeaders: {},
    lock: undefined,
    changed: false,
    committed: undefined,
    errorCode: undefined,
  }
}

export type RequestHandler = (event: APIGatewayProxyEvent, context: Context) => Promise<APIGatewayProxyResult>
