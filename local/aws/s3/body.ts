import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { crc32 } from 'node:zlib'
import { AwsError } from '../error.ts'

/** A stored body. */
export interface Stored {
  size: number
  /** MD5 in hex, S3's ETag of a single put. */
  etag: string
}

/**
 * Removes the chunk framing of `aws-chunked` bodies:
 * `<size hex>[;chunk-signature=…]\r\n<bytes>\r\n … 0\r\n<trailers>`.
 */
async function* unchunk(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let buffered: Buffer = Buffer.alloc(0)
  let left = -1
  for await (const piece of source) {
    buffered = Buffer.concat([buffered, piece])
    while (true) {
      if (left > 0) {
        const bytes = buffered.subarray(0, left)
        if (bytes.length === 0) break
        yield bytes
        left -= bytes.length
        buffered = buffered.subarray(bytes.length)
        continue
      }
      // After a chunk's bytes comes a line break, before the next size.
      const start = left === 0 ? 2 : 0
      const end = buffered.indexOf('\r\n', start)
      if (end < 0) break
      left = Number.parseInt(buffered.subarray(start, end).toString('latin1'), 16)
      buffered = buffered.subarray(end + 2)
      if (!(left > 0)) return
    }
  }
  throw new AwsError('IncompleteBody', 'The request body terminated unexpectedly')
}

const encodedCrc = (value: number) => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes.toString('base64')
}

/**
 * Writes a request's body to a file and verifies the digests and length that the sender declared.
 *
 * @param payloadHash the signed hash, or S3's marker for an unsigned or chunked body
 * @throws AwsError when a digest or the length does not match
 */
export const storeBody = async (request: IncomingMessage, file: string, payloadHash: string): Promise<Stored> => {
  const chunked = payloadHash.startsWith('STREAMING-') || /aws-chunked/.test(request.headers['content-encoding'] ?? '')
  const md5 = createHash('md5')
  const sha = createHash('sha256')
  let crc = 0
  let size = 0
  const source: AsyncIterable<Buffer> = chunked ? unchunk(request) : request
  const measured = async function* () {
    for await (const piece of source) {
      md5.update(piece)
      sha.update(piece)
      crc = crc32(piece, crc)
      size += piece.length
      yield piece
    }
  }
  await pipeline(measured(), createWriteStream(file))
  // Data after the last chunk (trailers) is read too, so that the connection can be reused.
  request.resume()
  const hash = sha.digest('hex')
  const digest = md5.digest()
  const header = (name: string) => request.headers[name] as string | undefined
  if (/^[0-9a-f]{64}$/.test(payloadHash) && payloadHash !== hash) {
    const message = "The provided 'x-amz-content-sha256' header does not match what was computed."
    throw new AwsError('XAmzContentSHA256Mismatch', message)
  }
  const bad =
    (header('content-md5') ?? digest.toString('base64')) !== digest.toString('base64') ||
    (header('x-amz-checksum-crc32') ?? encodedCrc(crc)) !== encodedCrc(crc) ||
    (header('x-amz-checksum-sha256') ?? Buffer.from(hash, 'hex').toString('base64')) !==
      Buffer.from(hash, 'hex').toString('base64')
  if (bad)
    throw new AwsError(
      'BadDigest',
      'The Content-MD5 or checksum value that you specified did not match what the server received.',
    )
  const announced = header('x-amz-decoded-content-length')
  if (announced !== undefined && Number(announced) !== size) {
    throw new AwsError(
      'IncompleteBody',
      'You did not provide the number of bytes specified by the Content-Length HTTP header',
    )
  }
  return { size, etag: digest.toString('hex') }
}
