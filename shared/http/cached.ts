import { RawAnswer } from './answer.ts'

/**
 * Text with an entity tag: 304 without a body for whoever has it already (RFC 9110 §13.1.2). The comparison is the weak
 * one, because a gateway that compresses weakens tags.
 */
export const cached = (
  requestHeaders: Record<string, string>,
  hash: string,
  headers: Record<string, string>,
  body: string,
): RawAnswer => {
  const etag = `"${hash.slice(0, 32)}"`
  const known = (requestHeaders['if-none-match'] ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  const fresh = known.includes(etag) || known.includes('*')
  return fresh ? new RawAnswer(304, { ...headers, etag }) : new RawAnswer(200, { ...headers, etag }, body)
}
