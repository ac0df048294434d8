/**
 * Headers that the client sets itself. A second or wrong one would let a caller smuggle a request (RFC 9112 §6, §11.2).
 */
const FRAMING = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

/**
 * Returns the reason why these headers can't be sent, or undefined. A line break in a name or value would start a
 * header or request of the caller's own (RFC 9110 §5.5).
 */
export const invalidHeaderReason = (headers: Record<string, string>): string | undefined => {
  for (const [name, value] of Object.entries(headers)) {
    if (!TOKEN.test(name)) return 'A header name contains characters that HTTP does not allow.'
    if (FRAMING.has(name.toLowerCase())) return `The header ${name} is set by the platform.`
    if (typeof value !== 'string' || !VALUE.test(value)) {
      return `The value of the header ${name} contains characters that HTTP does not allow.`
    }
  }
  return undefined
}

/**
 * Returns the headers to send. Requests ask for uncompressed responses, which are short or truncated: inflating them
 * costs more than it saves. A response that is compressed anyway is still read.
 */
export const outgoingHeaders = (
  headers: Record<string, string>,
  method: string,
  body: Uint8Array | undefined,
): Record<string, string> => {
  const out: Record<string, string> = { 'user-agent': 'AgentIntegrationPlatform/1', 'accept-encoding': 'identity' }
  for (const [name, value] of Object.entries(headers)) out[name.toLowerCase()] = value
  if (body) out['content-length'] = String(body.byteLength)
  else if (method === 'POST' || method === 'PUT' || method === 'PATCH') out['content-length'] = '0'
  return out
}
