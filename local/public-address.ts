/** Address at which others reach the platform: the setting `BASE_URL`. */
export interface PublicAddress {
  /** Without a trailing slash. */
  url: string
  /** Values of the Host header that lead here, in lower case. */
  hosts: readonly string[]
  /** Path of the address: empty, or segments with a leading slash. */
  prefix: string
}

const SCHEME = /^[a-z][a-z0-9+.-]*:\/\//i
const LOOPBACK = /^(127(\.\d{1,3}){3}|localhost|\[::1\])(:\d+)?(\/|$)/i
const EXAMPLE = 'https://laptop.example.com'

/**
 * Parses a public address. Without a scheme, it is https, or http for this machine.
 *
 * @param name the setting, for messages
 * @throws Error with one line that says what is wrong and what to give
 */
export const parsePublicAddress = (name: string, text: string): PublicAddress => {
  const given = text.trim()
  const refuse = (reason: string): never => {
    throw new Error(`${name} ${reason}: ${text}. Give an address such as ${EXAMPLE} or ${EXAMPLE}/platform.`)
  }
  const full = SCHEME.test(given) ? given : `${LOOPBACK.test(given) ? 'http' : 'https'}://${given}`
  if (given === '' || !URL.canParse(full)) return refuse('is not an address')
  const { protocol, origin, host, hostname, port, username, password, pathname, search, hash } = new URL(full)
  if (protocol !== 'http:' && protocol !== 'https:') return refuse('has another scheme than http or https')
  if (username || password) return refuse('contains a name or password')
  if (search || hash || /[?#]/.test(given)) return refuse('contains a query or a fragment')
  const prefix = pathname.replace(/\/+$/, '')
  if (prefix.includes('//')) return refuse('has an empty segment in its path')
  const hosts = port === '' ? [host, `${hostname}:${protocol === 'http:' ? 80 : 443}`] : [host]
  return { url: origin + prefix, hosts, prefix }
}

/**
 * Removes the address's path from the target of a request, as API Gateway removes a stage's. Metadata is
 * looked for with that path behind its own: `/.well-known/<name><prefix>/…` (RFC 8414 §3.1, RFC 9728 §3.1). A target without
 * the path stays, for programs of this machine and for proxies that remove it themselves.
 */
export const withoutPrefix = (target: string, prefix: string): string => {
  if (prefix === '') return target
  const [, metadata = '', rest = target] = /^(\/\.well-known\/[^/?]+)(\/.*)$/.exec(target) ?? []
  if (rest !== prefix && !/^[/?]/.test(rest.startsWith(prefix) ? rest.slice(prefix.length) : '')) return target
  const inner = rest.slice(prefix.length)
  return metadata + (metadata === '' && !inner.startsWith('/') ? `/${inner}` : inner)
}
