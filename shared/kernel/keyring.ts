import { createSecretKey, hkdfSync, type KeyObject, type webcrypto } from 'node:crypto'
import * as z from 'zod'

/** The value of a generated secret: which key signs now, and every key that still verifies. */
const RingValue = z
  .object({ current: z.string() })
  .catchall(z.string().min(32))
  .refine((ring) => typeof ring[ring.current] === 'string' && ring.current !== 'current', 'current names no key')

/** What a key is for. Each purpose gets a key of its own from the same secret (HKDF, RFC 5869). */
export type KeyPurpose = 'jwt' | 'jwe' | 'cursor' | 'kept-answer'

/**
 * Keys by id. New material is made with {@link currentId}; older ids go on verifying until the operator removes them
 * from the secret, so that a rotation signs nobody out (decisions §2).
 */
export interface Keyring {
  readonly currentId: string
  /** Raw bytes (32) for HMAC by `node:crypto`, undefined for an unknown id. */
  bytes(purpose: KeyPurpose, id?: string): Uint8Array | undefined
  /** The same for signing and encrypting often: with raw bytes `node:crypto` makes a key anew each time. */
  secret(purpose: KeyPurpose, id?: string): KeyObject | undefined
  /** A cached CryptoKey: HMAC-SHA256 for `jwt`, AES-256-GCM for `jwe`. Undefined for an unknown id. */
  key(purpose: 'jwt' | 'jwe', id?: string): Promise<webcrypto.CryptoKey | undefined>
}

/** Reads the JSON text of a generated secret. Throws when it is not a keyring. */
export const parseKeyring = (text: string): Keyring => {
  const { current, ...secrets } = RingValue.parse(JSON.parse(text))
  const cache = new Map<string, Uint8Array>()
  const objects = new Map<string, KeyObject>()
  const keys = new Map<string, Promise<webcrypto.CryptoKey>>()
  const bytes = (purpose: KeyPurpose, id = current): Uint8Array | undefined => {
    const secret = Object.hasOwn(secrets, id) ? secrets[id] : undefined
    if (secret === undefined) return undefined
    const slot = `${purpose}/${id}`
    const known = cache.get(slot)
    if (known) return known
    const made = new Uint8Array(hkdfSync('sha256', secret, '', `platform/${purpose}`, 32))
    cache.set(slot, made)
    return made
  }
  return {
    currentId: current,
    bytes,
    secret(purpose, id = current) {
      const slot = `${purpose}/${id}`
      const known = objects.get(slot)
      if (known) return known
      const raw = bytes(purpose, id)
      if (!raw) return undefined
      const made = createSecretKey(raw)
      objects.set(slot, made)
      return made
    },
    async key(purpose, id = current) {
      const slot = `${purpose}/${id}`
      const known = keys.get(slot)
      if (known) return known
      const raw = bytes(purpose, id)
      if (!raw) return undefined
      const made =
        purpose === 'jwt'
          ? crypto.subtle.importKey('raw', raw as Uint8Array<ArrayBuffer>, { name: 'HMAC', hash: 'SHA-256' }, false, [
              'sign',
              'verify',
            ])
          : crypto.subtle.importKey('raw', raw as Uint8Array<ArrayBuffer>, 'AES-GCM', false, ['encrypt', 'decrypt'])
      keys.set(slot, made)
      return made
    },
  }
}
