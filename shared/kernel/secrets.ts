import { hash, randomBytes, timingSafeEqual } from 'node:crypto'

/** Creates a random 256-bit secret as base64url without padding (43 characters), after an optional prefix. */
export const newSecret = (prefix = ''): string => prefix + randomBytes(32).toString('base64url')

/** Creates a secret that names its workspace, `<prefix>_<workspace>_<secret>`, so that it can be brought to the workspace's data unread. */
export const newSecretOf = (prefix: string, workspaceId: string): string =>
  newSecret(`${prefix}_${workspaceId.slice('ws_'.length)}_`)

/** Returns true for a text that has the form of a secret without a prefix. Any other needs no look-up to be refused. */
export const isSecret = (text: string): boolean => /^[A-Za-z0-9_-]{43}$/.test(text)

/** Returns the SHA-256 in hex. Random secrets are stored this way: with 256 bits they need no salt or slow hash. */
export const sha256 = (text: string | Uint8Array): string => hash('sha256', text, 'hex')

/** Compares two secrets of any lengths in constant time, by comparing their digests. */
export const sameSecret = (a: string, b: string): boolean =>
  timingSafeEqual(hash('sha256', a, 'buffer'), hash('sha256', b, 'buffer'))
