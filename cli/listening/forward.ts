import http, { type IncomingMessage } from 'node:http'
import https from 'node:https'
import { setTimeout as pause } from 'node:timers/promises'
import zlib from 'node:zlib'

/** A request received from the stream. */
export interface ListenedRequest {
  id: string
  kind: 'run.execute' | 'webhook'
  event: string
  run_id: string | null
  delivery_id: string | null
  attempt: number | null
  method: string
  headers: Record<string, string>
  body_base64: string
  time_left_ms: number
  connect_retry_pauses_ms: number[]
}

/** Outcome of a forwarded request, sent back with `POST /api/v1/dev/listen/{id}/answer`. */
export type Outcome =
  | { status: number; headers: Record<string, string>; body_base64: string; truncated: boolean }
  | { failure: Failure }

type Failure = 'connect' | 'timeout' | 'reset' | 'decode'

/** Maximum size in bytes of an answer that the platform reads. */
const MAX_BYTES = 1_024 * 1_024
/** Time in ms reserved to send the answer back before the deadline. */
const RETURN_MS = 500

/** Forwards a request with its original headers and bytes, so that signatures verify. Never throws. */
export const forward = async (request: ListenedRequest, to: URL, signal: AbortSignal): Promise<Outcome> => {
  const until = performance.now() + Math.max(500, request.time_left_ms - RETURN_MS)
  for (let attempt = 0; ; attempt++) {
    const outcome = await once(request, to, until - performance.now(), signal)
    // Like the platform, retries if the connection couldn't be established.
    const wait = request.connect_retry_pauses_ms[attempt]
    const canRetry = 'failure' in outcome && outcome.failure === 'connect' && !signal.aborted
    if (!canRetry || wait === undefined || performance.now() + wait >= until) return outcome
    await pause(wait, undefined, { signal }).catch(() => {})
  }
}

const once = ({ kind, method, headers, body_base64 }: ListenedRequest, to: URL, ms: number, signal: AbortSignal) =>
  new Promise<Outcome>((settle) => {
    const body = Buffer.from(body_base64, 'base64')
    let connected = false
    let started: IncomingMessage | undefined
    const request = (to.protocol === 'https:' ? https : http).request(to, {
      method,
      agent: false,
      headers: { ...headers, 'content-length': body.length },
    })
    const finish = (outcome: Outcome) => {
      clearTimeout(timer)
      signal.removeEventListener('abort', abort)
      settle(outcome)
    }
    const broken = (failure: Failure) => {
      finish(started && isDecided(kind, started, failure) ? answerWith(started, Buffer.alloc(0), true) : { failure })
      request.destroy()
    }
    const abort = () => broken('reset')
    const timer = setTimeout(() => broken(connected ? 'timeout' : 'connect'), Math.max(1, ms))
    signal.addEventListener('abort', abort, { once: true })
    request.on('socket', (socket) => {
      socket.once(to.protocol === 'https:' ? 'secureConnect' : 'connect', () => {
        connected = true
      })
    })
    request.on('error', (error: NodeJS.ErrnoException) => {
      broken(!connected ? 'connect' : error.code?.startsWith('HPE_') ? 'decode' : 'reset')
    })
    request.on('response', (response) => {
      started = response
      answerOf(response).then(
        (outcome) => (typeof outcome === 'string' ? broken(outcome) : finish(outcome)),
        () => broken('reset'),
      )
    })
    request.end(body)
  })

/**
 * Returns whether the status alone decides the outcome, even if the body fails. Follows the platform: true for an accepted
 * run, and for a received webhook unless it timed out.
 */
const isDecided = (kind: ListenedRequest['kind'], { statusCode = 0 }: IncomingMessage, failure: Failure): boolean =>
  kind === 'run.execute' ? statusCode === 202 : statusCode >= 200 && statusCode < 300 && failure !== 'timeout'

const DECODERS: Record<string, (bytes: Buffer, options: { maxOutputLength: number }) => Buffer> = {
  gzip: zlib.gunzipSync,
  'x-gzip': zlib.gunzipSync,
  deflate: zlib.inflateSync,
  br: zlib.brotliDecompressSync,
  zstd: zlib.zstdDecompressSync,
}

const answerOf = async (response: IncomingMessage): Promise<Outcome | Failure> => {
  const { bytes, truncated } = await read(response)
  const encoding = (response.headers['content-encoding'] ?? 'identity').toLowerCase()
  const decoder = DECODERS[encoding]
  if (encoding !== 'identity' && !decoder) return 'decode'
  let plain = bytes
  try {
    if (decoder && bytes.length > 0) plain = decoder(bytes, { maxOutputLength: MAX_BYTES })
  } catch {
    return 'decode'
  }
  return answerWith(response, plain, truncated)
}

const answerWith = (response: IncomingMessage, body: Buffer, truncated: boolean): Outcome => {
  const headers = Object.entries(response.headers).flatMap(([name, value]) =>
    value === undefined || name === 'content-encoding' ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
  )
  return {
    status: response.statusCode ?? 0,
    headers: Object.fromEntries(headers),
    body_base64: body.toString('base64'),
    truncated,
  }
}

const read = async (response: IncomingMessage): Promise<{ bytes: Buffer; truncated: boolean }> => {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    const room = MAX_BYTES - size
    chunks.push(chunk.subarray(0, room))
    size += Math.min(chunk.length, room)
    if (chunk.length > room) {
      response.destroy()
      return { bytes: Buffer.concat(chunks), truncated: true }
    }
  }
  return { bytes: Buffer.concat(chunks), truncated: false }
}
