import dns from 'node:dns'
import { isLoopbackAddress, isPublicAddress } from './addresses.ts'

/** Gives all addresses of a name, in the order to try them; rejects with an error that has a `code`. */
export type Resolve = (hostname: string, signal: AbortSignal) => Promise<string[]>

/**
 * Asks DNS for A and AAAA, and nothing else: no hosts file, no search domains. c-ares instead of getaddrinfo because the
 * latter holds one of four threads per name, so that four names that don't answer would stop every look-up.
 */
const resolveByDns: Resolve = async (hostname, signal) => {
  const resolver = new dns.promises.Resolver({ timeout: 1_500, tries: 2 })
  const cancel = () => resolver.cancel()
  signal.addEventListener('abort', cancel, { once: true })
  try {
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
    const found = [v4, v6].flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
    if (found.length === 0 && v4.status === 'rejected') throw v4.reason
    // IPv4 first: a Lambda function outside a VPC has no way out over IPv6.
    return found
  } finally {
    signal.removeEventListener('abort', cancel)
  }
}

/** The system's own name for itself needs no DNS, and a DNS server's word on it must not be taken (RFC 6761 §6.3). */
const LOCALHOST = ['127.0.0.1', '::1']

const MOST_ADDRESSES = 8

export type Addresses = { ok: true; addresses: string[] } | { ok: false; reason: string }

/**
 * Resolves a name and checks every answer; one bad answer among good ones refuses the name, since who controls it may
 * give the next connection another. `loopback` turns the check round: a local target may resolve to the machine only.
 */
export const checkedAddresses = async (
  hostname: string,
  loopback: boolean,
  resolve: Resolve | undefined,
  signal: AbortSignal,
): Promise<Addresses> => {
  const found = loopback && !resolve ? LOCALHOST : await (resolve ?? resolveByDns)(hostname, signal)
  if (found.length === 0) throw Object.assign(new Error('no address'), { code: 'ENODATA' })
  const allowed = loopback ? isLoopbackAddress : isPublicAddress
  if (!found.every(allowed)) {
    // The address itself stays untold: the platform's resolver may know names that are nobody else's business.
    return { ok: false, reason: `The host name ${hostname} resolves to an address that is not a public one.` }
  }
  return { ok: true, addresses: found.slice(0, MOST_ADDRESSES) }
}
