import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { startTimeLimit } from '#shared/kernel/time-limit.ts'
import { EVENT_TOO_LARGE, type Functions, type InvokeResult } from './functions.ts'
import { type Exchange, proxyEvent } from './gateway/event.ts'
import { answerFailure, type FailureType, isServerFault } from './gateway/failures.ts'
import { createHostCheck, sendRefusal, unreadable } from './gateway/refusals.ts'
import { type ReplyOptions, replyBuffered, replyStreamed } from './gateway/reply.ts'
import { createMatcher, type Match } from './gateway/routes.ts'
import { type PublicAddress, withoutPrefix } from './public-address.ts'
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
  /** Address behind a tunnel or a proxy that leads here, besides this machine's names. */
  publicAddress: PublicAddress | undefined
  /** Renames `WWW-Authenticate` and similar headers, as API Gateway does. */
  remapHeaders: boolean
  isDiskFull: () => boolean
  onAccess: (entry: AccessEntry) => void
  /** Called with the reason when a request for an unknown host is refused. */
  onUnknownHost: (reason: string) => void
  /** Answers requests for what isn't in the template. @returns false for others */
  standIns: (request: IncomingMessage, response: ServerResponse) => boolean
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

const TIMED_OUT = Symbol('timed out')

/** Stops waiting after `ms`. The function continues, as on AWS. */
const within = async (result: Promise<InvokeResult>, ms: number): Promise<InvokeResult | typeof TIMED_OUT> => {
  const late = Promise.withResolvers<typeof TIMED_OUT>()
  const limit = startTimeLimit(ms, () => late.resolve(TIMED_OUT))
  return Promise.race([result, late.promise]).finally(limit.clear)
}

/**
 * Starts the HTTP server that stands in for the template's REST API.
 *
 * @throws the listen error, e.g. `EADDRINUSE`
 */
export const startGateway = async (options: GatewayOptions): Promise<Gateway> => {
  const { api, functions, publicAddress } = options
  const match = createMatcher(api)
  const refusalOf = createHostCheck(options)
  const withoutPublicPath = (request: IncomingMessage) => {
    request.url = withoutPrefix(request.url ?? '/', publicAddress?.prefix ?? '')
  }

  const invoke = async (reply: ReplyOptions, found: Match): Promise<FailureType | undefined> => {
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

  /** @returns the reason if the gateway has to answer itself */
  const serve = async (reply: ReplyOptions, found: Match): Promise<FailureType | undefined> => {
    const failure = await invoke(reply, found)
    return failure !== undefined && isServerFault(failure) && options.isDiskFull() ? 'DISK_FULL' : failure
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
    const reply = { api, request, response, exchange, remap: options.remapHeaders, isDiskFull: options.isDiskFull }
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

  /** The last response on each connection. */
  const answering = new WeakMap<Duplex, ServerResponse>()
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
      answering.set(request.socket, response)
      const refusal = refusalOf(request)
      if (refusal === undefined) {
        withoutPublicPath(request)
        if (!options.standIns(request, response)) void handle(request, response)
        return
      }
      const { status, headers, body } = refusal
      response.writeHead(Number.parseInt(status, 10), headers).end(body)
      request.socket.destroySoon()
    },
  )
  server.on('clientError', (error: Error & { code?: string }, socket) => {
    const response = answering.get(socket)
    // In the middle of an answer, another one would become part of it.
    const isAnswering = response?.headersSent && !response.writableFinished
    if (isAnswering || !socket.writable || error.code === 'ECONNRESET') socket.destroy()
    else sendRefusal(socket, unreadable(error, options.baseUrl()))
  })
  const { onUpgrade } = options
  if (onUpgrade) {
    server.on('upgrade', (request, socket, head) => {
      const refusal = refusalOf(request)
      if (refusal === undefined) {
        withoutPublicPath(request)
        return onUpgrade(request, socket, head)
      }
      sendRefusal(socket, refusal)
    })
  }
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
