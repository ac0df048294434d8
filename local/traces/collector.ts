import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gunzipSync, inflateSync } from 'node:zlib'
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
    if (bytes > MAX_BYTES) throw new Error('the export is over 4 MiB')
    pieces.push(piece)
  }
  const body = Buffer.concat(pieces)
  const encoding = request.headers['content-encoding'] ?? 'identity'
  const limit = { maxOutputLength: 4 * MAX_BYTES }
  if (encoding === 'gzip') return gunzipSync(body, limit)
  if (encoding === 'deflate') return inflateSync(body, limit)
  if (encoding === 'identity') return body
  throw new Error(`the content-encoding ${encoding} isn’t supported; use gzip, deflate or none`)
}

/** Paths of OTLP over HTTP. Metrics and logs are taken and dropped, so that SDKs that send all three report no errors. */
const PATHS = new Set(['/v1/traces', '/v1/metrics', '/v1/logs'])

const JSON_TYPE = 'application/json'
const PROTOBUF_TYPE = 'application/x-protobuf'

/** Codes of `google.rpc.Status`. */
const STATUS = { 400: 3, 404: 5, 405: 12, 415: 3 } as const

/** Builds the `google.rpc.Status` that answers a refused export, in the request's own encoding (OTLP, "Failures"). */
const statusOf = (status: keyof typeof STATUS, message: string, isJson: boolean): Buffer => {
  const code = STATUS[status]
  if (isJson) return Buffer.from(JSON.stringify({ code, message }))
  const text = Buffer.from(message).subarray(0, 127)
  return Buffer.concat([Buffer.from([0x08, code, 0x12, text.length]), text])
}

/** Starts a collector for OTLP over HTTP, in JSON or protobuf. Takes any free port if the given one is in use. */
export const startCollector = async (
  port: number,
  onSpans: (spans: readonly ReceivedSpan[]) => void,
): Promise<Collector> => {
  const server = createServer(async (request, response) => {
    const [type = ''] = (request.headers['content-type'] ?? '').split(';')
    const isJson = type.trim() === JSON_TYPE
    const headers = { 'content-type': isJson ? JSON_TYPE : PROTOBUF_TYPE }
    const refuse = (status: keyof typeof STATUS, message: string) => {
      request.resume()
      response.writeHead(status, headers).end(statusOf(status, message, isJson))
    }
    const [path = ''] = (request.url ?? '').split('?')
    if (!PATHS.has(path)) return refuse(404, `there is no ${path}; send to ${[...PATHS].join(', ')}`)
    if (request.method !== 'POST') return refuse(405, 'send with POST')
    if (!isJson && type.trim() !== PROTOBUF_TYPE) return refuse(415, `send ${PROTOBUF_TYPE} or ${JSON_TYPE}`)
    try {
      const body = await readBody(request)
      if (path === '/v1/traces') onSpans(isJson ? readJson(body) : readProtobuf(body))
      response.writeHead(200, headers).end(isJson ? '{}' : '')
    } catch (error) {
      refuse(400, error instanceof Error ? error.message : 'the export can’t be read')
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
