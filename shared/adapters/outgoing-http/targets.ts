import { isIP } from 'node:net'
import type { TargetVerdict } from '../../kernel/ports/outgoing-http.ts'
import { isLoopbackAddress, isPublicAddress } from './addresses.ts'

export interface TargetPolicy {
  /**
   * Local-only switch: also allows http and https to `localhost`, 127.0.0.0/8 and ::1 (contract/local-run.md#switches).
   */
  allowLoopbackHttp: boolean
}

/**
 * Checks the text of an address: https, no credentials, a public IP or a name that can be public, any port. It does not
 * resolve names; the client does that for each request.
 *
 * Reads the address with the WHATWG parser, as the client does. Decimal, octal, hexadecimal, short and full-width forms
 * of an IPv4 address are therefore judged as the address they mean.
 */
export const checkUrl = (text: string, policy: TargetPolicy): TargetVerdict => {
  if (hasControlOrSpace(text)) return refuse('The address contains spaces or control characters.')
  if (!URL.canParse(text)) return refuse('The address is not a valid URL.')
  const url = new URL(text)
  if (url.username !== '' || url.password !== '') return refuse('The address contains a user name or password.')
  const host = hostOf(url)
  if (policy.allowLoopbackHttp && isLoopbackHost(host) && (url.protocol === 'http:' || url.protocol === 'https:')) {
    return { ok: true, url }
  }
  if (url.protocol !== 'https:') return refuse('The address must start with https://.')
  const reason = isIP(host) ? refusedLiteral(host) : refusedName(host)
  return reason ? refuse(reason) : { ok: true, url }
}

/** Returns the host without the brackets of an IPv6 literal, as `node:net` expects it. */
export const hostOf = (url: URL): string => (url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname)

/** Returns true for `localhost` or a loopback literal, but not for a name that resolves to one. */
export const isLoopbackHost = (host: string): boolean => host === 'localhost' || isLoopbackAddress(host)

const refuse = (reason: string): TargetVerdict => ({ ok: false, reason })

// The parser silently drops tabs, line breaks and surrounding spaces. An address that needs that is a mistake or a
// trick.
const hasControlOrSpace = (text: string): boolean => {
  for (const character of text) {
    if (character <= ' ' || (character >= '\x7f' && character <= '\xa0')) return true
  }
  return false
}

const refusedLiteral = (host: string): string | undefined =>
  isPublicAddress(host) ? undefined : `The address ${host} is not public.`

/**
 * Names that are local by definition. This only gives an early, clear error. The network is protected by checking every
 * address that a name resolves to.
 */
const LOCAL_SUFFIXES = new Set(['localhost', 'localdomain', 'local', 'internal', 'intranet', 'lan', 'home', 'corp'])

const refusedName = (host: string): string | undefined => {
  // A URL of a special scheme always has a host. The limits of names come from RFC 1035 §2.3.4.
  if (host === '' || host.length > 253) return 'The host name must have 1 to 253 characters.'
  if (host.endsWith('.')) return 'The host name must not end with a dot.'
  const labels = host.split('.')
  if (labels.some((label) => label === '' || label.length > 63)) {
    return 'Each part of the host name must have 1 to 63 characters.'
  }
  if (LOCAL_SUFFIXES.has(labels.at(-1) ?? '') || host.endsWith('.home.arpa')) {
    return `The host name ${host} is local.`
  }
  if (labels.length === 1) return 'The host name must be a full public name, such as hooks.example.com.'
  return undefined
}
