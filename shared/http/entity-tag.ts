import { RawResponse } from './response.ts'

/**
 * Answers with text or bytes and an entity tag, or with 304 and no body if the client already has it (RFC 9110 §13.1.2). The
 * comparison is weak, because a gateway that compresses weakens tags.
 * @param isWeak the text of one version may differ, as signatures do
 */
export const withEntityTag = (
  requestHeaders: Record<string, string>,
  hash: string,
  headers: Record<string, string>,
  body: string | Uint8Array,
  isWeak = false,
): RawResponse => {
  const tag = `"${hash.slice(0, 32)}"`
  const etag = isWeak ? `W/${tag}` : tag
  const known = (requestHeaders['if-none-match'] ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  const fresh = known.includes(tag) || known.includes('*')
  return fresh ? new RawResponse(304, { ...headers, etag }) : new RawResponse(200, { ...headers, etag }, body)
}
