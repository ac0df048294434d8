import type { IncomingMessage } from 'node:http'

/** Matches this machine's names, which a bucket name may precede. */
const HOST = /^([\w.-]+\.)?(127(\.\d{1,3}){3}|localhost|\[::1\])(:\d+)?$/

/**
 * Returns true if the Host header names this machine. A different name that resolves to this address may belong to a
 * page that rebinds its own name (DNS rebinding). The browser would treat the responses as that page's.
 * @param others hosts, with their ports, that also lead here
 */
export const hasLocalHost = ({ headers: { host = '' } }: IncomingMessage, others: readonly string[] = []): boolean =>
  HOST.test(host) || others.includes(host)

/**
 * Returns true if no page of another origin sent the request. Any user of this machine may act as anyone, but other
 * origins may not act for them or for the bot. Browsers without `Sec-Fetch-Site` send the origin of posts.
 */
export const isSameOrigin = ({ headers: { host, origin, 'sec-fetch-site': site } }: IncomingMessage): boolean =>
  (site === undefined || site === 'same-origin') && (origin === undefined || origin === `http://${host}`)
