import type { IncomingMessage, ServerResponse } from 'node:http'
import { fail, type PlatformError } from '#shared/kernel/errors.ts'

/** Matches this machine's names, which a bucket name may precede. */
const HOST = /^([\w.-]+\.)?(127(\.\d{1,3}){3}|localhost|\[::1\])(:\d+)?$/i

/**
 * Returns true if the Host header names this machine. A different name that resolves to this address may belong to a
 * page that rebinds its own name (DNS rebinding). The browser would treat the responses as that page's.
 * @param others hosts of the public address, in lower case
 */
export const hasLocalHost = ({ headers: { host = '' } }: IncomingMessage, others: readonly string[] = []): boolean =>
  HOST.test(host) || others.includes(host.toLowerCase())

/** Error for a Host header that {@link hasLocalHost} refuses. It names the setting that accepts the host. */
export const unknownHost = ({ headers: { host = '' } }: IncomingMessage, publicUrl?: string): PlatformError =>
  fail('forbidden', {
    message: `The Host of this request is “${host}”. The local platform answers to this machine${publicUrl === undefined ? '' : ` and to ${publicUrl}`} only.`,
    fix: `If this host is yours, restart the platform with its address: npm start -- --base-url https://${host} (or BASE_URL). Otherwise, have the proxy send a Host that is known.`,
  })

/** Answers a request for an unknown host to a stand-in's own port, which no setting opens to others. */
export const refuseHost = (request: IncomingMessage, response: ServerResponse): void => {
  const text = `The Host of this request is “${request.headers.host ?? ''}”. This port answers to this machine only. Use the platform's own port, and set its address with npm start -- --base-url (or BASE_URL).\n`
  response.writeHead(403, { 'content-type': 'text/plain; charset=utf-8' }).end(text)
}

/**
 * Returns true if no page of another origin sent the request. Any user of this machine may act as anyone, but other
 * origins may not act for them or for the bot. Browsers without `Sec-Fetch-Site` send the origin of posts.
 * @param own origin of the public address
 */
export const isSameOrigin = (
  { headers: { host, origin, 'sec-fetch-site': site } }: IncomingMessage,
  own?: string,
): boolean =>
  (site === undefined || site === 'same-origin') &&
  (origin === undefined || origin === `http://${host}` || origin === own)
