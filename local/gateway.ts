import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { EVENT_TOO_LARGE, type Functions, type InvokeResult } from './functions.ts'
import { type Exchange, proxyEvent } from './gateway/event.ts'
import { answerFailure, type FailureType } from './gateway/failures.ts'
import { type ReplyOptions, replyBuffered, replyStreamed } from './gateway/reply.ts'
import { createMatcher, type Match } from './gateway/routes.ts'
import { hasLocalHost } from './same-origin.ts'
import type { ApiModel } from './template/model.ts'

/** One answered request, for the log. */
export interface AccessEntry {
  requestId: string
  method: string
  path: string
  status: number
  durationMs: number
  functionName: string | undefined
}

/** The local API Gateway. */
export interface Gateway {
  address: string
  port: number
  stop(): Promise<void>
}

/** Options of the gateway. */
export interface GatewayOptions {
  api: ApiModel
  functions: Functions
  port: number
  /** The platform's own address, for links in responses. */
  baseUrl: () => string
  /** Hosts that lead here besides this machine's names, such as a tunnel's. */
  hosts: readonly string[]
  /** Renames `WWW-Authenticate` and similar headers, as API Gateway does. */
  remapHeaders: boolean
  onAccess: (entry: AccessEntry) => void
  /** Takes WebSocket connections. Absent if the template has no API for them. */
  onUpgrade?: ((request: IncomingMessage, socket: Duplex, head: Buffer) => void) | undefined
}

const MAX_REQUEST_BYTES = 10 * 1024 * 1024
const DRAIN_LIMIT_BYTES = 64 * 1024 * 1024

/**
 * Reads the body.
 * @returns undefined if the body exceeds the limit
 */
const readBody = async (request: IncomingMessage): Promise<Buffer | undefined> => {
  const pieces: Buffer[] = []
  let size = 0
  for await (const piece of request as AsyncIterable<Buffer>) {
    size += piece.length
    // Data over the limit is still read, so that the client sees the response instead of a broken connection.
    if (size <= MAX_REQUEST_BYTES) pieces.push(piece)
    if (size > DRAIN_LIMIT_BYTES) break
  }
  return size <= MAX_REQUEST_BYTES ? Buffer.concat(pieces) : undefined
}

const exchangeOf = (request: IncomingMessage): Exchange => {
  const target = request.url ?? '/'
  const at = target.indexOf('?')
  return {
    requestId: randomUUID(),
    method: request.method ?? 'GET',
    path: at < 0 ? target : target.slice(0, at),
    query: at < 0 ? '' : target.slice(at + 1),
    sourceIp: (request.socket.remoteAddress ?? '127.0.0.1').replace(/^::ffff:/, ''),
    receivedAt: new Date(),
  }
}

/**
 * Returns the status for a request with an invalid Host header: none or several (RFC 9112 §3.2), or another machine's.
 */
const refusalOf = (request: IncomingMessage, hosts: readonly string[]): 400 | 403 | undefined => {
  if (request.headersDistinct.host?.length !== 1) return 400
  return hasLocalHost(request, hosts) ? undefined : 403
}

const TIMED_OUT = Symbol('timed out')

/** Stops waiting after `ms`. The function continues, as on AWS. */
const within = async (result: Promise<InvokeResult>, ms: number): Promise<InvokeResult | typeof TIMED_OUT> => {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<typeof TIMED_OUT>((resolve) => {
    timer = setTimeout(() => resolve(TIMED_OUT), ms)
  })
  return Promise.race([result, limit]).finally(() => clearTimeout(timer))
}

/**
 * Starts the HTTP server that stands in for the template's REST API.
 *
 * @throws the listen error, e.g. `EADDRINUSE`
 */
export const startGateway = async (options: GatewayOptions): Promise<Gateway> => {
  const { api, functions } = options
  const match = createMatcher(api)

  const serve = async (reply: ReplyOptions, found: Match): Promise<FailureType | undefined> => {
    const { method } = found
    const { request, exchange } = reply
    const body = await readBody(request)
    if (!body || !method.functionArn) return body ? 'API_CONFIGURATION_ERROR' : 'REQUEST_TOO_LARGE'
    const event = proxyEvent(api, request, exchange, found, body)
    const result = await within(functions.invoke(method.functionArn, event), method.timeoutMs)
    if (result === TIMED_OUT) return 'INTEGRATION_TIMEOUT'
    if (result.kind === 'error')
      return result.error.errorType === EVENT_TOO_LARGE ? 'REQUEST_TOO_LARGE' : 'INTEGRATION_FAILURE'
    if (method.streamed) {
      if (result.kind !== 'stream') return 'INTEGRATION_FAILURE'
      return (await replyStreamed(reply, result.contentType, result.body)) ? undefined : 'INTEGRATION_FAILURE'
    }
    if (result.kind === 'stream') {
      // A streaming handler behind a buffered route: Lambda returns its bytes as the payload, which isn't a proxy
      // result.
      result.body.destroy()
      return 'INTEGRATION_FAILURE'
    }
    return replyBuffered(reply, result.value) ? undefined : 'INTEGRATION_FAILURE'
  }

  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const exchange = exchangeOf(request)
    const found = match(exchange.path, exchange.method)
    const functionName = found?.method.functionArn && functions.find(found.method.functionArn)?.name
    response.once('close', () => {
      const durationMs = Date.now() - exchange.receivedAt.getTime()
      const { requestId, method: verb, path } = exchange
      options.onAccess({ requestId, method: verb, path, status: response.statusCode, durationMs, functionName })
    })
    const reply = { api, request, response, exchange, remap: options.remapHeaders }
    let failure: FailureType | undefined = 'MISSING_AUTHENTICATION_TOKEN'
    try {
      if (found) failure = await serve(reply, found)
    } catch (error) {
      if (request.destroyed && !request.complete) return
      failure = 'API_CONFIGURATION_ERROR'
      process.emitWarning(error instanceof Error ? error : String(error))
    }
    if (!failure || response.headersSent) return
    request.resume()
    answerFailure({ api, response, exchange, baseUrl: options.baseUrl() }, failure)
  }

  const server = createServer(
    {
      maxHeaderSize: 16 * 1024,
      keepAliveTimeout: 65_000,
      requestTimeout: 0,
      // Node rejects a request without one, but still passes on what follows it.
      requireHostHeader: false,
      // Java's client offers HTTP/2 in each first request over plain HTTP. It is answered without.
      shouldUpgradeCallback: ({ headers }) => headers.upgrade?.toLowerCase() === 'websocket',
    },
    (request, response) => {
      // Requests that follow a rejected one on its connection are ignored.
      if (request.socket.writableEnded) return
      const refusal = refusalOf(request, options.hosts)
      if (refusal === undefined) return void handle(request, response)
      response.writeHead(refusal, { connection: 'close' }).end()
      request.socket.destroySoon()
    },
  )
  if (options.onUpgrade) server.on('upgrade', options.onUpgrade)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    address: `http://127.0.0.1:${port}`,
    port,
    stop: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeIdleConnections()
      const late = setTimeout(() => server.closeAllConnections(), 1_000)
      await closed
      clearTimeout(late)
    },
  }
}
