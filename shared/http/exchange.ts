import type { MiddlewareObj } from '@middy/core'
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda'
import type { Deps } from '../domain/deps.ts'
import type { Caller } from './callers.ts'
import type { Endpoint, Method } from './endpoint.ts'
import type { Hold, KeptAnswer } from './idempotency.ts'

/** What the steps of one request share. */
export interface Exchange {
  deps: Deps
  requestId: string
  startedAt: number
  method: Method
  path: string
  headers: Record<string, string>
  query: [string, string][]
  rawBody: string
  /** From the gateway, or behind the edge as that says; never a caller’s word. */
  sourceIp: string | undefined
  endpoint: Endpoint | undefined
  params: Record<string, string>
  body: unknown
  caller: Caller
  /** Throws when the caller may not do any more what was allowed at the request's start; set once that is known. */
  recheck: (() => Promise<void>) | undefined
  /** Headers of the answer that do not come from the handler: rate limits. */
  answerHeaders: Record<string, string>
  hold: Hold | undefined
  /** The answer that was kept in the request's own transaction. */
  committed: KeptAnswer | undefined
  errorCode: string | undefined
}

export type Middleware = MiddlewareObj<
  APIGatewayProxyEvent,
  APIGatewayProxyResult,
  Error,
  Context,
  { exchange: Exchange }
>

/** A step that reads and completes the exchange; it ends the request only by throwing. */
export const step = (name: string, run: (exchange: Exchange) => Promise<void> | void): Middleware => ({
  name,
  before: async ({ internal }) => {
    await run(internal.exchange)
  },
})

/** The endpoint, once the route step has run. */
export const endpointOf = ({ endpoint }: Exchange): Endpoint => {
  if (!endpoint) throw new Error('the request has no route yet')
  return endpoint
}

/** What the edge puts the caller's address into (infra/edge.ts). */
export const VIEWER_HEADER = 'x-viewer-address'

/** Reads an API Gateway proxy event (payload 1.0). Header names come in lower case; a repeated header's values joined. */
export const readExchange = (deps: Deps, event: APIGatewayProxyEvent, requestId: string): Exchange => {
  const headers: Record<string, string> = Object.create(null)
  for (const [name, values] of Object.entries(event.multiValueHeaders ?? {})) {
    headers[name.toLowerCase()] = (values ?? []).join(', ')
  }
  for (const [name, value] of Object.entries(event.headers ?? {})) headers[name.toLowerCase()] ??= value ?? ''
  const query = Object.entries(event.multiValueQueryStringParameters ?? {}).flatMap(([name, values]) =>
    (values ?? []).map((value): [string, string] => [name, value]),
  )
  return {
    deps,
    requestId,
    startedAt: performance.now(),
    method: event.httpMethod as Method,
    path: event.path,
    headers,
    query,
    rawBody:
      event.body === null ? '' : event.isBase64Encoded ? Buffer.from(event.body, 'base64').toString() : event.body,
    // Behind the edge the gateway sees the edge's address, and takes nothing that came around it.
    sourceIp: deps.settings.edge ? headers[VIEWER_HEADER] : event.requestContext?.identity?.sourceIp,
    endpoint: undefined,
    params: {},
    body: undefined,
    caller: { kind: 'none' },
    recheck: undefined,
    answerHeaders: {},
    hold: undefined,
    committed: undefined,
    errorCode: undefined,
  }
}
