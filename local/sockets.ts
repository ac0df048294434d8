import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import { startTimeLimit } from '#shared/kernel/time-limit.ts'
import type { Functions } from './functions.ts'
import type { LocalModel, SocketsModel } from './template/model.ts'

/** Path at which the local gateway accepts live connections. */
const LIVE_PATH = '/live'

/** Limits of API Gateway: a message's size, idle time, and a connection's life. */
const MAX_MESSAGE_BYTES = 128 * 1024
const IDLE_MS = 10 * 60_000
const LIFE_MS = 2 * 3_600_000

/** The local WebSocket API. */
export interface Sockets {
  /** Takes a connection that the gateway's server upgrades. */
  accept(request: IncomingMessage, socket: Duplex, head: Buffer): void
  /** Serves the management API. @returns false if the request isn't for it */
  manage(request: IncomingMessage, response: ServerResponse): boolean
  /** Ends all connections, as a lost network does. */
  disconnect(): void
  stop(): void
}

/** Options of the WebSocket API. */
export interface SocketsOptions {
  model: SocketsModel
  functions: Pick<Functions, 'invoke'>
  onError: (error: unknown) => void
}

/** Returns the address of live connections in the template and in this run, for the functions' environment. */
export const socketAddresses = ({ sockets }: Pick<LocalModel, 'sockets'>, baseUrl: string) =>
  sockets && { deployed: sockets.url, local: `${baseUrl.replace(/^http/, 'ws')}${LIVE_PATH}` }

/** Creates the WebSocket API of the template, as API Gateway serves it: routes to functions, and `@connections` to send and close. */
export const createSockets = ({ model, functions, onError }: SocketsOptions): Sockets => {
  const server = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE_BYTES })
  const connections = new Map<string, WebSocket>()

  const invoke = async (
    route: string,
    id: string,
    event: Record<string, unknown> & { identity?: object },
  ): Promise<number> => {
    const arn = model.routes.get(route)
    if (!arn) return 200
    const eventType = { $connect: 'CONNECT', $disconnect: 'DISCONNECT' }[route] ?? 'MESSAGE'
    const { identity, ...rest } = event
    const gateway = { routeKey: route, eventType, connectionId: id, stage: model.stage, apiId: model.id }
    const requestContext = { ...gateway, ...(identity && { identity }) }
    const result = await functions.invoke(arn, { requestContext, isBase64Encoded: false, ...rest })
    return result.kind === 'value' ? ((result.value as { statusCode?: number } | null)?.statusCode ?? 502) : 502
  }

  const serve = (id: string, socket: WebSocket) => {
    connections.set(id, socket)
    const end = () => socket.close(1001, 'Going away')
    const life = startTimeLimit(LIFE_MS, end)
    let idle = startTimeLimit(IDLE_MS, end)
    socket.on('message', (data, isBinary) => {
      idle.clear()
      idle = startTimeLimit(IDLE_MS, end)
      const body = isBinary ? (data as Buffer).toString('base64') : data.toString()
      const told = invoke('$default', id, { body, isBase64Encoded: isBinary })
      told.then((status) => {
        if (status >= 500 && socket.readyState === socket.OPEN)
          socket.send(JSON.stringify({ message: 'Internal server error', connectionId: id, requestId: id }))
      }, onError)
    })
    socket.once('close', () => {
      life.clear()
      idle.clear()
      connections.delete(id)
      invoke('$disconnect', id, {}).catch(onError)
    })
    // A message that is too large, or a broken frame. The connection closes by itself.
    socket.on('error', () => undefined)
  }

  const accept = async (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const refuse = (status: string) => socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`)
    if (request.url?.split('?')[0] !== LIVE_PATH) return refuse('404 Not Found')
    const id = randomBytes(12).toString('base64')
    const status = await invoke('$connect', id, {
      headers: request.headers,
      identity: { sourceIp: request.socket.remoteAddress },
    })
    if (status < 200 || status > 299) return refuse(status < 500 ? `${status} Refused` : '502 Bad Gateway')
    server.handleUpgrade(request, socket, head, (opened) => serve(id, opened))
  }

  const disconnect = () => {
    for (const connection of connections.values()) connection.terminate()
  }

  return {
    accept: (request, socket, head) => {
      socket.on('error', () => socket.destroy())
      accept(request, socket, head).catch((error) => {
        onError(error)
        socket.destroy()
      })
    },
    manage: (request, response) => {
      const [, encoded] = request.url?.match(/^\/@connections\/([^/?]+)$/) ?? []
      if (encoded === undefined) return false
      const connection = connections.get(decodeURIComponent(encoded))
      // The caller has gone away in the middle of its request.
      answer(request, response, connection).catch(() => response.destroy())
      return true
    },
    disconnect,
    stop: () => {
      disconnect()
      server.close()
    },
  }
}

const answer = async (request: IncomingMessage, response: ServerResponse, connection: WebSocket | undefined) => {
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece)
  if (connection?.readyState !== 1) return response.writeHead(410, { 'x-amzn-errortype': 'GoneException' }).end()
  if (request.method === 'DELETE') {
    connection.close(1000, 'Connection Closed Normally')
    return response.writeHead(204).end()
  }
  if (request.method !== 'POST') return response.writeHead(405).end()
  connection.send(Buffer.concat(pieces).toString(), (error) => response.writeHead(error ? 410 : 200).end())
}
