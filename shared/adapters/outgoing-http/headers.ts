/** Set by the client itself; a second or wrong one would let a caller smuggle a request (RFC 9112 §6, §11.2). */
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
 * Says why these headers can't be sent, or nothing. A line break in a name or value would start a header or a request of
 * the caller's own making (RFC 9110 §5.5).
 */
export const refusedHeaders = (headers: Record<string, string>): string | undefined => {
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
 * The headers as they go out. Answers are asked for uncompressed: they are short or cut, so that inflating them costs
 * more than it saves; an answer that comes compressed all the same is read.
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
