import { isIP } from 'node:net'
import type { TargetVerdict } from '#shared/domain/ports.ts'
import { isLoopbackAddress, isPublicAddress } from './addresses.ts'

export interface TargetPolicy {
  /** The local-only switch: http and https to `localhost`, 127.0.0.0/8 and ::1 are allowed too (decisions §10). */
  allowLoopbackHttp: boolean
}

/**
 * Checks the text of an address: https, no credentials, a public IP or a name that can be a public one; any port. Names
 * are not looked up here: the client does that at each request.
 *
 * Reads the address with the WHATWG parser, the same that the client uses, so that decimal, octal, hexadecimal, short and
 * full-width forms of an IPv4 address are judged as the address they mean.
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

/** The host without the brackets of an IPv6 literal: what `node:net` takes. */
export const hostOf = (url: URL): string => (url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname)

/** `localhost` or a loopback literal; nothing that only resolves to one. */
export const isLoopbackHost = (host: string): boolean => host === 'localhost' || isLoopbackAddress(host)

const refuse = (reason: string): TargetVerdict => ({ ok: false, reason })

// The parser drops tabs, line breaks and surrounding spaces silently; an address that needs that is a mistake or a trick.
const hasControlOrSpace = (text: string): boolean => {
  for (const character of text) {
    if (character <= ' ' || (character >= '\x7f' && character <= '\xa0')) return true
  }
  return false
}

const refusedLiteral = (host: string): string | undefined =>
  isPublicAddress(host) ? undefined : `The address ${host} is not a public one.`

/**
 * Names that are local by definition. This only gives an early and clear answer: what guards the network is the check of
 * every address that a name resolves to.
 */
const LOCAL_SUFFIXES = new Set(['localhost', 'localdomain', 'local', 'internal', 'intranet', 'lan', 'home', 'corp'])

const refusedName = (host: string): string | undefined => {
  // A URL of a special scheme always has a host; a name's limits are those of RFC 1035 §2.3.4.
  if (host === '' || host.length > 253) return 'The host name must have 1 to 253 characters.'
  if (host.endsWith('.')) return 'Write the host name without a trailing dot.'
  const labels = host.split('.')
  if (labels.some((label) => label === '' || label.length > 63)) {
    return 'Each part of the host name must have 1 to 63 characters.'
  }
  if (LOCAL_SUFFIXES.has(labels.at(-1) ?? '') || host.endsWith('.home.arpa')) {
    return `The host name ${host} is a local one.`
  }
  if (labels.length === 1) return 'The host name must be a full public name, like hooks.example.com.'
  return undefined
}
