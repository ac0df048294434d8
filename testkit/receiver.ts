import { EventEmitter, once } from 'node:events'
import http, { type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import https from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { TLSSocket } from 'node:tls'
import zlib from 'node:zlib'
import { type CertificateKind, certificate, testAuthority } from './certificates.ts'

/** Received request. */
export interface Received {
  method: string
  path: string
  headers: IncomingHttpHeaders
  body: Buffer
  /** Time at which its head arrived, in epoch ms. */
  at: number
  /** Number of its connection, from 1. */
  connection: number
}

/** A receiver's answer to a request. */
export type Answer =
  | { kind: 'answer'; status?: number; headers?: Record<string, string>; body?: string | Uint8Array; delayMs?: number }
  | { kind: 'hang' }
  /** Resets the connection before any answer, or in the middle of the body. Default status: 200. */
  | { kind: 'reset'; when: 'before' | 'body'; status?: number }
  | { kind: 'redirect'; status?: number; location: string }
  /** Sends the headers and then a byte now and then, forever. Default status: 200. */
  | { kind: 'drip'; everyMs: number; status?: number }
  /** Sends zeroes for as long as the client reads. */
  | { kind: 'endless' }
  /** Sends a body that is tiny on the wire and this large when inflated. */
  | { kind: 'bomb'; encoding: 'gzip' | 'br' | 'deflate' | 'zstd'; bytes: number }
  /** Sends raw bytes (one per character), then ends the connection. */
  | { kind: 'raw'; text: string }

/** An answer in JSON. */
export const json = (value: unknown, status = 200): Answer => ({
  kind: 'answer',
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(value),
})

/** An agent's answer that its run has succeeded. */
export const succeeds = (fields: object = {}): Answer => json({ status: 'succeeded', output: {}, ...fields })

export type Script = Answer | ((request: Received) => Answer | Promise<Answer>)

export interface Receiver {
  /** Base URL without a trailing slash: `http://127.0.0.1:<port>` or `https://localhost:<port>`. */
  url: string
  port: number
  /** Certificate to trust for `valid` TLS. */
  ca: string
  requests: Received[]
  /** Connections accepted so far. */
  connections: number
  /** Bytes of bodies written so far by `endless`. */
  written: number
  /** Sets the answer to all further requests. Answers queued by {@link next} go first. */
  answer(script: Script): void
  /** Queues answers for the next requests, one each. */
  next(...scripts: Script[]): void
  /** Resolves when this many requests have arrived in total. */
  received(count: number): Promise<Received[]>
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** Starts a server on a free loopback port that records requests and answers by script (at first 200 without a body). */
export const startReceiver = async (options: { tls?: CertificateKind } = {}): Promise<Receiver> => {
  const arrivals = new EventEmitter()
  const queued: Script[] = []
  const numbers = new WeakMap<Socket, number>()
  let standing: Script = { kind: 'answer' }

  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const at = Date.now()
    const received: Received = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      body: await buffer(request),
      at,
      connection: numbers.get(request.socket) ?? 0,
    }
    receiver.requests.push(received)
    arrivals.emit('request')
    const script = queued.shift() ?? standing
    await play(typeof script === 'function' ? await script(received) : script, response, (bytes) => {
      receiver.written += bytes
    })
  }
  // Aborts by the client concern the test, not the receiver.
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    handle(request, response).catch(() => response.destroy())
  }
  const server = options.tls
    ? https.createServer({ ...(await certificate(options.tls)), keepAliveTimeout: 30_000 }, listener)
    : http.createServer({ keepAliveTimeout: 30_000 }, listener)
  server.on(options.tls ? 'secureConnection' : 'connection', (socket: Socket) => {
    receiver.connections += 1
    numbers.set(socket, receiver.connections)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo

  const receiver: Receiver = {
    url: options.tls ? `https://localhost:${port}` : `http://127.0.0.1:${port}`,
    port,
    ca: (await testAuthority()).cert,
    requests: [],
    connections: 0,
    written: 0,
    answer: (script) => {
      standing = script
    },
    next: (...scripts) => {
      queued.push(...scripts)
    },
    received: async (count) => {
      while (receiver.requests.length < count) await once(arrivals, 'request')
      return receiver.requests
    },
    close: async () => {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
    [Symbol.asyncDispose]: () => receiver.close(),
  }
  return receiver
}

/** Answers with a 200 and complete headers, whose body never ends properly. */
export const BROKEN_BODIES: [what: string, answer: Answer][] = [
  ['ends before its length', { kind: 'raw', text: 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nok' }],
  ['is announced but missing', { kind: 'raw', text: 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n' }],
  ['breaks off with a reset', { kind: 'reset', when: 'body' }],
  ['has an invalid chunk', { kind: 'raw', text: 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nnone\r\n' }],
  [
    'ends inside its compressed data',
    { kind: 'raw', text: 'HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 100\r\n\r\n\x1f\x8b' },
  ],
  ['claims to be gzip but isn’t', { kind: 'answer', headers: { 'content-encoding': 'gzip' }, body: 'none' }],
  ['never ends', { kind: 'endless' }],
]

const play = async (answer: Answer, response: ServerResponse, wrote: (bytes: number) => void): Promise<void> => {
  switch (answer.kind) {
    case 'answer':
      if (answer.delayMs) await sleep(answer.delayMs)
      response.writeHead(answer.status ?? 200, answer.headers).end(answer.body)
      return
    case 'hang':
      return
    case 'reset':
      if (answer.when === 'body') {
        response.writeHead(answer.status ?? 200, { 'content-length': '1000' }).write('begun')
        await sleep(20)
      }
      // Only a plain TCP socket can send RST.
      if (response.socket instanceof TLSSocket) response.socket.destroy()
      else response.socket?.resetAndDestroy()
      return
    case 'redirect':
      response.writeHead(answer.status ?? 302, { location: answer.location }).end()
      return
    case 'drip':
      response.writeHead(answer.status ?? 200)
      while (!response.destroyed) {
        response.write('.')
        await sleep(answer.everyMs)
      }
      return
    case 'endless':
      return pour(response, wrote)
    case 'bomb':
      response.writeHead(200, { 'content-encoding': answer.encoding }).end(pack(answer.encoding, answer.bytes))
      return
    case 'raw':
      response.socket?.end(answer.text, 'latin1')
  }
}

const pour = async (response: ServerResponse, wrote: (bytes: number) => void): Promise<void> => {
  const chunk = Buffer.alloc(65_536)
  response.writeHead(200)
  const gone = new Promise<void>((closed) => response.once('close', closed))
  while (!response.destroyed) {
    const ready = response.write(chunk)
    wrote(chunk.byteLength)
    if (!ready) {
      await new Promise<void>((go) => {
        response.once('drain', go)
        gone.then(go)
      })
    }
  }
}

const pack = (encoding: 'gzip' | 'br' | 'deflate' | 'zstd', bytes: number): Buffer => {
  const zeroes = Buffer.alloc(bytes)
  if (encoding === 'gzip') return zlib.gzipSync(zeroes)
  if (encoding === 'br')
    return zlib.brotliCompressSync(zeroes, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 4 } })
  if (encoding === 'deflate') return zlib.deflateSync(zeroes)
  return zlib.zstdCompressSync(zeroes)
}
