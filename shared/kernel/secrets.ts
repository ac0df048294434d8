import { hash, randomBytes, timingSafeEqual } from 'node:crypto'

/** A random secret of 256 bits, base64url without padding (43 characters), behind an optional prefix. */
export const newSecret = (prefix = ''): string => prefix + randomBytes(32).toString('base64url')

/** SHA-256 in hex: how random secrets are stored. They carry 256 bits, so no salt or slow hash is needed. */
export const sha256 = (text: string | Uint8Array): string => hash('sha256', text, 'hex')

/** Compares in constant time whatever the lengths are, by comparing digests. */
export const sameSecret = (a: string, b: string): boolean =>
  timingSafeEqual(hash('sha256', a, 'buffer'), hash('sha256', b, 'buffer'))
