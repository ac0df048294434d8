/** Returns the host of an address without the dot at its end, which names the same host. */
export const hostIn = (url: string): string => new URL(url).hostname.replace(/\.+$/, '')

/**
 * Returns the origin of an address, by which different spellings of it are one: case, default port, percent-encoding and
 * the dot at the end of the host don't count.
 */
export const originIn = (url: string): string => {
  const { protocol, port } = new URL(url)
  return `${protocol}//${hostIn(url)}${port && `:${port}`}`
}

/**
 * Returns an address as receivers tell it from others: its origin and path. Query, fragment, percent-encoding, and
 * repeated or final slashes don't count.
 */
export const placeIn = (url: string): string => {
  const { pathname } = new URL(url)
  const path = pathname
    .replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replaceAll(/\/+/g, '/')
  return originIn(url) + path.replace(/\/$/, '')
}
