import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/**
 * Returns true if this is a public IP address that the platform may connect to.
 *
 * IPv4: every address outside the special-purpose registries (RFC 6890 and its successors). IPv6: only what IANA
 * allocates, 2000::/3, without special blocks and without addresses that embed an IPv4 address. One allowed range,
 * instead of many forbidden ones, rejects every translated form outside it (mapped, compatible, NAT64, SIIT, local-use
 * NAT64), whatever it embeds. It also rejects unassigned ranges.
 *
 * @param ip an address as `node:net` and DNS write it; any other notation (octal, short, with a zone id) is rejected
 */
export const isPublicAddress = (ip: string): boolean => {
  const address = parse(ip)
  if (!address) return false
  if (address.range() !== 'unicast') return false
  return address.kind() === 'ipv4' || isAssignedUnicast(address.toByteArray())
}

/** Returns true if this IP address is the machine itself: 127.0.0.0/8 or ::1, in plain notation. */
export const isLoopbackAddress = (ip: string): boolean => parse(ip)?.range() === 'loopback'

// Strict on purpose: ipaddr.js also reads 0177.1 or 0x7f000001, which a resolver or the socket might interpret
// differently.
const parse = (ip: string) => (isIP(ip) === 0 || ip.includes('%') ? undefined : ipaddr.parse(ip))

/** Returns false for addresses that ipaddr.js calls unicast but that aren't public. */
const isAssignedUnicast = (bytes: number[]): boolean => {
  const word = (index: number) => ((bytes[index * 2] ?? 0) << 8) | (bytes[index * 2 + 1] ?? 0)
  if ((word(0) & 0xe000) !== 0x2000) return false
  // 3ffe::/16, the former 6bone, must not be routed (RFC 3701).
  if (word(0) === 0x3ffe) return false
  // ISATAP interface ids end in an IPv4 address, often a private one (RFC 5214 §6.1: 0000:5efe and 0200:5efe).
  if ((word(4) & ~0x0300) === 0 && word(5) === 0x5efe) return false
  return true
}
