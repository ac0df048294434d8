import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gunzipSync } from 'node:zlib'
import { type ReceivedSpan, readJson, readProtobuf } from './otlp.ts'

/** Port to which OpenTelemetry's SDKs send by default, so that agents on this machine join in. */
export const OTLP_PORT = 4_318

const MAX_BYTES = 4 * 1024 * 1024

export interface Collector {
  address: string
  stop(): Promise<void>
}

const readBody = async (request: IncomingMessage): Promise<Buffer> => {
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of request) {
    bytes += piece.length
    if (bytes > MAX_BYTES) throw new Error('the export is too large')
    pieces.push(piece)
  }
  const body = Buffer.concat(pieces)
  return request.headers['content-encoding'] === 'gzip' ? gunzipSync(body, { maxOutputLength: 4 * MAX_BYTES }) : body
}

/** Starts a collector for OTLP over HTTP, in JSON or protobuf. Takes any free port if the given one is in use. */
export const startCollector = async (
  port: number,
  onSpans: (spans: readonly ReceivedSpan[]) => void,
): Promise<Collector> => {
  const server = createServer(async (request, response) => {
    if (request.method !== 'POST' || request.url !== '/v1/traces') {
      request.resume()
      response.writeHead(404).end()
      return
    }
    const isJson = request.headers['content-type']?.startsWith('application/json') ?? false
    try {
      const body = await readBody(request)
      onSpans(isJson ? readJson(body) : readProtobuf(body))
      response.writeHead(200, { 'content-type': isJson ? 'application/json' : 'application/x-protobuf' })
      response.end(isJson ? '{}' : '')
    } catch {
      response.writeHead(400).end()
    }
  })
  const listen = (on: number) =>
    new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(on, '127.0.0.1', () => {
        server.off('error', reject)
        resolve()
      })
    })
  await listen(port).catch(() => listen(0))
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
