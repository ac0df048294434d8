import type { Settings } from '#shared/kernel/settings.ts'

/** Hosts of a redirect to the person's own machine (RFC 8252 §7.3), as `URL` writes them. */
const LOOPBACK: readonly string[] = ['127.0.0.1', '[::1]', 'localhost']

const MOST_CHARACTERS = 2_048

/** Reports whether an address leads to a program on the person's own machine. */
export const isLoopbackRedirect = (uri: string): boolean => {
  const { protocol, hostname } = new URL(uri)
  return protocol === 'http:' && LOOPBACK.includes(hostname)
}

/**
 * Reports whether a host may name this address: https, http on the person's machine, or a scheme that the stage knows. A
 * browser would run a script's address, and a file's would show the code to a page.
 */
export const isUsableRedirect = (
  { hostRedirectSchemes }: Pick<Settings, 'hostRedirectSchemes'>,
  uri: string,
): boolean => {
  // Only printable ASCII: every parser reads it alike.
  if (uri.length > MOST_CHARACTERS || !/^[\x21-\x7e]+$/.test(uri) || /[#\\]/.test(uri) || !URL.canParse(uri))
    return false
  const url = new URL(uri)
  if (url.username || url.password) return false
  if (url.protocol === 'https:') return url.hostname !== ''
  return isLoopbackRedirect(uri) || hostRedirectSchemes.includes(url.protocol.slice(0, -1))
}

const withoutPort = (uri: string): string => {
  const url = new URL(uri)
  url.port = ''
  return url.href
}

/** Reports whether an address is a named one. On the person's machine, programs take any free port (RFC 8252 §7.3). */
export const matchesRedirect = (named: readonly string[], uri: string): boolean =>
  named.includes(uri) ||
  (isLoopbackRedirect(uri) && named.some((one) => isLoopbackRedirect(one) && withoutPort(one) === withoutPort(uri)))

/** Returns what a person, and an owner's allow-list, call the receiver of a redirect: its host, or its scheme. */
export const receiverOf = (uri: string): string => {
  const { protocol, hostname, host } = new URL(uri)
  if (isLoopbackRedirect(uri)) return hostname
  return protocol === 'https:' ? host : protocol
}
