import { fail } from '../../kernel/errors.ts'
import { LIMITS } from '../../kernel/limits.ts'

export interface GivenContent {
  content?: string | undefined
  content_base64?: string | undefined
}

/**
 * The bytes of content that came in JSON.
 * @returns undefined when none came
 * @throws `payload_too_large` over 1 MiB of text or 4 MiB decoded; `validation_error` for what is not base64
 */
export const decodeContent = ({ content, content_base64 }: GivenContent): Uint8Array | undefined => {
  if (content !== undefined) {
    const bytes = Buffer.from(content, 'utf8')
    requireSize(bytes.byteLength, LIMITS.fileTextBytes, 'content as text')
    return bytes
  }
  if (content_base64 === undefined) return undefined
  // Measured before it is decoded; the decoder would skip what is no base64, so it has to come out as it went in.
  requireSize(Buffer.byteLength(content_base64, 'base64'), LIMITS.fileBase64Bytes, 'content from base64')
  const bytes = Buffer.from(content_base64, 'base64')
  if (bytes.toString('base64') === content_base64) return bytes
  throw fail('validation_error', {
    message: 'content_base64 is not base64.',
    details: { fields: { content_base64: ['must be base64 with padding (RFC 4648 §4)'] } },
  })
}

/** @throws `payload_too_large`, saying what may be larger */
export const requireSize = (bytes: number, limit: number, what: string): void => {
  if (bytes <= limit) return
  throw fail('payload_too_large', {
    message: `The file has ${bytes} bytes; ${what} may have ${limit}.`,
    fix:
      limit === LIMITS.fileUploadBytes
        ? 'Send a smaller file.'
        : `Create the file with POST /api/v1/files and its size instead of content: up to ${LIMITS.fileUploadBytes} bytes are then uploaded.`,
    details: { limit_bytes: limit },
  })
}
