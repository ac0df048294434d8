import type { IncomingMessage } from 'node:http'

/** In front of the name, buckets may stand. */
const HOST = /^([\w.-]+\.)?(127(\.\d{1,3}){3}|localhost|\[::1\])(:\d+)?$/

/**
 * Another name that leads to this address is a page that rebinds its own: to the browser the answers would be that page's.
 * @param others hosts, with their ports, that are meant to lead here
 */
export const isNamedHere = ({ headers: { host = '' } }: IncomingMessage, others: readonly string[] = []): boolean =>
  HOST.test(host) || others.includes(host)

/**
 * Anybody on this machine is whoever they say, but no page of another origin may speak for them or for the bot. Browsers
 * that do not name the site yet name the origin of what they post.
 */
export const isFromHere = ({ headers: { host, origin, 'sec-fetch-site': site } }: IncomingMessage): boolean =>
  (site === undefined || site === 'same-origin') && (origin === undefined || origin === `http://${host}`)
