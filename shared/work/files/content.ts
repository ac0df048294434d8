import { fail } from '#shared/kernel/errors.ts'
import { LIMITS } from '#shared/kernel/limits.ts'

export interface ContentInput {
  content?: string | undefined
  content_base64?: string | undefined
}

/**
 * Decodes file content sent as JSON.
 * @returns undefined without content
 * @throws `payload_too_large` over 1 MiB of text or 4 MiB decoded; `validation_error` for invalid base64
 */
export const decodeContent = ({ content, content_base64 }: ContentInput): Uint8Array | undefined => {
  if (content !== undefined) {
    const bytes = Buffer.from(content, 'utf8')
    requireMaxSize(bytes.byteLength, LIMITS.fileTextBytes, 'content as text')
    return bytes
  }
  if (content_base64 === undefined) return undefined
  // Measured before decoding. The decoder skips invalid characters, so the result is compared with the input.
  requireMaxSize(Buffer.byteLength(content_base64, 'base64'), LIMITS.fileBase64Bytes, 'content from base64')
  const bytes = Buffer.from(content_base64, 'base64')
  if (bytes.toString('base64') === content_base64) return bytes
  throw fail('validation_error', {
    message: 'content_base64 is not valid base64.',
    details: { fields: { content_base64: ['must be base64 with padding (RFC 4648 §4)'] } },
  })
}

/** Refuses content over the limit. @throws `payload_too_large` with the larger limit of uploads in the fix */
export const requireMaxSize = (bytes: number, limit: number, what: string): void => {
  if (bytes <= limit) return
  throw fail('payload_too_large', {
    message: `The file has ${bytes} bytes; the maximum for ${what} is ${limit}.`,
    fix:
      limit === LIMITS.fileUploadBytes
        ? 'Send a smaller file.'
        : `Send the size instead of the content to POST /api/v1/files, and upload the content: up to ${LIMITS.fileUploadBytes} bytes.`,
    details: { limit_bytes: limit },
  })
}
