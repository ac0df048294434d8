import dns from 'node:dns'
import { isLoopbackAddress, isPublicAddress } from './addresses.ts'

/** Returns all addresses of a name, in the order to try them. Rejects with an error that has a `code`. */
export type Resolve = (hostname: string, signal: AbortSignal) => Promise<string[]>

/**
 * Queries DNS for A and AAAA only: no hosts file, no search domains. It uses c-ares, because getaddrinfo holds one of
 * four threads per name. Four names that don't answer would block every lookup.
 */
const resolveByDns: Resolve = async (hostname, signal) => {
  const resolver = new dns.promises.Resolver({ timeout: 1_500, tries: 2 })
  const cancel = () => resolver.cancel()
  signal.addEventListener('abort', cancel, { once: true })
  try {
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
    const found = [v4, v6].flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
    if (found.length === 0 && v4.status === 'rejected') throw v4.reason
    // IPv4 first, because a Lambda function outside a VPC can't connect over IPv6.
    return found
  } finally {
    signal.removeEventListener('abort', cancel)
  }
}

/** Addresses of `localhost`, which needs no DNS. A DNS server's answer for it must not be trusted (RFC 6761 §6.3). */
const LOCALHOST = ['127.0.0.1', '::1']

const MOST_ADDRESSES = 8

export type Addresses = { ok: true; addresses: string[] } | { ok: false; reason: string }

/**
 * Resolves a name and checks every address. One bad address rejects the name, since its owner may return another one
 * for the next connection. `loopback` inverts the check: a local target may resolve only to the machine itself.
 */
export const resolvePublicAddresses = async (
  hostname: string,
  loopback: boolean,
  resolve: Resolve | undefined,
  signal: AbortSignal,
): Promise<Addresses> => {
  const found = loopback && !resolve ? LOCALHOST : await (resolve ?? resolveByDns)(hostname, signal)
  if (found.length === 0) throw Object.assign(new Error('no address'), { code: 'ENODATA' })
  const allowed = loopback ? isLoopbackAddress : isPublicAddress
  if (!found.every(allowed)) {
    // The message omits the address, because the platform's resolver may know private names.
    return { ok: false, reason: `The host name ${hostname} resolves to an address that is not public.` }
  }
  return { ok: true, addresses: found.slice(0, MOST_ADDRESSES) }
}
