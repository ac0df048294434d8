import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { errorBody } from '#shared/http/response.ts'
import { PlatformError } from '#shared/kernel/errors.ts'
import type { PublicAddress } from '../public-address.ts'
import { hasLocalHost, unknownHost } from '../same-origin.ts'

/** An answer to a request that is refused before anything reads it. The connection is closed after it. */
export interface Refusal {
  /** Status with its reason, such as `400 Bad Request`. */
  status: string
  headers: Record<string, string>
  body: string
}

interface RefusalOptions {
  publicAddress: PublicAddress | undefined
  baseUrl: () => string
  onUnknownHost: (reason: string) => void
}

const refusalFor = (status: string, error: PlatformError, baseUrl: string): Refusal => {
  const body = JSON.stringify(errorBody(error, randomUUID(), `${baseUrl}/docs`))
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  }
  return { status, headers, body }
}

/** Creates the check of the Host header: none or several (RFC 9112 §3.2), or a name that doesn't lead here. */
export const createHostCheck =
  ({ publicAddress, baseUrl, onUnknownHost }: RefusalOptions) =>
  (request: IncomingMessage): Refusal | undefined => {
    if (request.headersDistinct.host?.length !== 1) {
      const message = 'The request needs exactly one Host header.'
      const fix = 'Send the host of the address in it, as HTTP libraries do.'
      return refusalFor('400 Bad Request', new PlatformError('bad_request', { message, fix }), baseUrl())
    }
    if (hasLocalHost(request, publicAddress?.hosts)) return undefined
    const error = unknownHost(request, publicAddress?.url)
    onUnknownHost(`${error.message} ${error.fix}`)
    return refusalFor('403 Forbidden', error, baseUrl())
  }

/** Statuses and texts for what Node's parser reports by the codes of its errors. */
const UNREADABLE: Readonly<Record<string, readonly [status: string, message: string, fix: string]>> = {
  HPE_HEADER_OVERFLOW: [
    '431 Request Header Fields Too Large',
    'The request line and headers are larger than 16 KB.',
    'Send shorter headers. On AWS, the limit is 10,240 bytes.',
  ],
  ERR_HTTP_REQUEST_TIMEOUT: [
    '408 Request Timeout',
    'The headers of the request didn’t arrive in time.',
    'Send the request again.',
  ],
}

const BAD = ['400 Bad Request', 'The request isn’t valid HTTP/1.1.', 'Send it with an HTTP library.'] as const

/** Returns the answer to a request that Node's parser can't read. */
export const unreadable = (error: Error & { code?: string }, baseUrl: string): Refusal => {
  const [status, message, fix] = UNREADABLE[error.code ?? ''] ?? BAD
  return refusalFor(status, new PlatformError('bad_request', { message, fix }), baseUrl)
}

/** Answers on a connection that has no response, and closes it. */
export const sendRefusal = (socket: Duplex, { status, headers, body }: Refusal): void => {
  socket.on('error', () => socket.destroy())
  const lines = Object.entries(headers).map(([name, text]) => `${name}: ${text}`)
  socket.end([`HTTP/1.1 ${status}`, ...lines, '', body].join('\r\n'))
}
