import type { IncomingMessage } from 'node:http'
import { pipeline, type Transform } from 'node:stream'
import zlib from 'node:zlib'

export interface ReadBody {
  body: Uint8Array
  truncated: boolean
  decodeError?: string
}

/** Real servers don't nest encodings. A response that does is built to multiply work. */
const MAX_ENCODINGS = 2

/**
 * Reads a response body and decodes its `content-encoding`, up to `maxBytes` of the result. Data beyond that is never
 * inflated: the decoders work chunk by chunk and stop with the connection.
 *
 * @throws the connection's error if it ended before the body did
 */
export const readBody = async (response: IncomingMessage, maxBytes: number): Promise<ReadBody> => {
  const encodings = hasBody(response) ? encodingsOf(response) : []
  const unknown = encodings.find((name) => !DECODERS.has(name))
  const readable = encodings.length <= MAX_ENCODINGS && unknown === undefined
  const read = await collect(
    response,
    readable ? encodings.flatMap((name) => DECODERS.get(name)?.() ?? []) : [],
    maxBytes,
  )
  if (readable) return read
  return { ...read, decodeError: unknown ? `unknown content-encoding ${unknown}` : 'too many content-encodings' }
}

const collect = async (response: IncomingMessage, decoders: Transform[], maxBytes: number): Promise<ReadBody> => {
  const chunks: Uint8Array[] = []
  let size = 0
  let truncated = false
  const last = decoders.at(-1) ?? response
  // The callback is empty because the loop below sees the same error.
  if (decoders.length > 0) pipeline([response, ...decoders], () => {})
  try {
    for await (const chunk of last as AsyncIterable<Uint8Array>) {
      const room = maxBytes - size
      chunks.push(chunk.byteLength > room ? chunk.subarray(0, room) : chunk)
      size += Math.min(chunk.byteLength, room)
      truncated = chunk.byteLength > room
      if (truncated) break
    }
  } catch (error) {
    const code = errorCode(error)
    if (decoders.length === 0 || !isDecoderError(code)) throw error
    return { body: Buffer.concat(chunks), truncated: false, decodeError: `undecodable ${code}` }
  } finally {
    if (truncated) response.destroy()
  }
  return { body: Buffer.concat(chunks), truncated }
}

/** Returns the encodings in decoding order (RFC 9110 §8.4 lists them in the order they were applied). */
const encodingsOf = (response: IncomingMessage): string[] =>
  (response.headers['content-encoding'] ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== 'identity')
    .reverse()

const DECODERS = new Map<string, () => Transform>([
  ['gzip', () => zlib.createGunzip()],
  ['x-gzip', () => zlib.createGunzip()],
  // Zlib-wrapped, as RFC 9110 §8.4.1.2 requires. Senders of the bare form learn that from the error.
  ['deflate', () => zlib.createInflate()],
  ['br', () => zlib.createBrotliDecompress()],
  // RFC 9659: a window of at most 8 MiB. Otherwise, the sender would decide how much memory is used.
  ['zstd', () => zlib.createZstdDecompress({ params: { [zlib.constants.ZSTD_d_windowLogMax]: 23 } })],
])

// Returns false for the response to a HEAD, which names the encoding of a body that isn't sent.
const hasBody = (response: IncomingMessage & { req?: { method?: string } }): boolean =>
  !(response.req?.method === 'HEAD' || response.statusCode === 204 || response.statusCode === 304)

const errorCode = (error: unknown): string => String((error as { code?: unknown }).code ?? '')

const isDecoderError = (code: string): boolean => /^(Z_|ZSTD_|ERR_BROTLI|ERR_ZSTD|ERR__|BROTLI)/.test(code)
