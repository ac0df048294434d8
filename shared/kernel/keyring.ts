import {
  createECDH,
  createHash,
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  hkdfSync,
  type KeyObject,
} from 'node:crypto'
import * as z from 'zod'

/** Value of a generated secret: the id of the current key, and every key that still verifies. */
const RingValue = z
  .object({ current: z.string() })
  .catchall(z.string().min(32))
  .refine((ring) => typeof ring[ring.current] === 'string' && ring.current !== 'current', 'current must name a key')

/** Purpose of a key. Each purpose gets its own key, derived from the same secret (HKDF, RFC 5869). */
export type KeyPurpose = 'jwe' | 'cursor'

/** Public half of a signing key, as a JWK of a JWKS (RFC 7517). */
export interface PublicJwk {
  kty: 'EC'
  crv: 'P-256'
  x: string
  y: string
  /** Thumbprint of the key (RFC 7638), so that one id never means two keys. */
  kid: string
  alg: 'ES256'
  use: 'sig'
}

/** Key pair that signs with ES256. */
export interface SigningKey {
  kid: string
  privateKey: KeyObject
  publicKey: KeyObject
  jwk: PublicJwk
}

/** Keys that encrypt values at rest. */
export interface SealingKeys {
  /** Returns the key that encrypts, with its id. */
  sealing(): Promise<{ id: string; key: KeyObject }>
  /** Returns the key that decrypts what a key of that id encrypted, or undefined for an unknown id. */
  opening(id: string): Promise<KeyObject | undefined>
}

/**
 * Keys by id. {@link currentId} signs and encrypts. Older ids keep verifying until the operator removes them from the
 * secret, so a rotation signs no one out (contract/oauth-and-tokens.md#secrets-at-rest).
 */
export interface Keyring extends SealingKeys {
  readonly currentId: string
  /** Ids of all keys. */
  readonly ids: readonly string[]
  /** Returns 32 raw bytes for HMAC with `node:crypto`, or undefined for an unknown id. */
  bytes(purpose: KeyPurpose, id?: string): Uint8Array | undefined
  /** Returns a cached ES256 key pair, derived from the secret like every other key, or undefined for an unknown id. */
  signing(id?: string): SigningKey | undefined
}

/** Order of the group of P-256 (FIPS 186-5, SP 800-186 §3.2.1.3). */
const P256_ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n

/**
 * Derives a P-256 key pair from a secret. The private key is 384 bits of HKDF, reduced to 1 … n − 1 as FIPS 186-5 A.2.1
 * does with extra random bits, so that no value is likelier than another.
 */
const derivedPair = (secret: string): SigningKey => {
  const wide = BigInt(`0x${Buffer.from(hkdfSync('sha256', secret, '', 'platform/es256', 48)).toString('hex')}`)
  const scalar = Buffer.from(((wide % (P256_ORDER - 1n)) + 1n).toString(16).padStart(64, '0'), 'hex')
  const ecdh = createECDH('prime256v1')
  ecdh.setPrivateKey(scalar)
  const point = ecdh.getPublicKey()
  const x = point.subarray(1, 33).toString('base64url')
  const y = point.subarray(33).toString('base64url')
  const publicPart = { crv: 'P-256', kty: 'EC', x, y } as const
  // The thumbprint hashes the members in this order, without spaces.
  const kid = createHash('sha256').update(JSON.stringify(publicPart)).digest('base64url')
  const jwk = { ...publicPart, d: scalar.toString('base64url') }
  return {
    kid,
    privateKey: createPrivateKey({ key: jwk, format: 'jwk' }),
    publicKey: createPublicKey({ key: publicPart, format: 'jwk' }),
    jwk: { ...publicPart, kid, alg: 'ES256', use: 'sig' },
  }
}

/** Parses the JSON text of a generated secret. Throws when it is not a keyring. */
export const parseKeyring = (text: string): Keyring => {
  const { current, ...secrets } = RingValue.parse(JSON.parse(text))
  const cache = new Map<string, Uint8Array>()
  const objects = new Map<string, KeyObject>()
  const pairs = new Map<string, SigningKey>()
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
  // Given raw bytes, `node:crypto` creates a new key each time.
  const sealingKey = (id: string): KeyObject | undefined => {
    const known = objects.get(id)
    if (known) return known
    const raw = bytes('jwe', id)
    if (!raw) return undefined
    const made = createSecretKey(raw)
    objects.set(id, made)
    return made
  }
  return {
    currentId: current,
    ids: Object.keys(secrets),
    bytes,
    signing(id = current) {
      const known = pairs.get(id)
      if (known) return known
      const secret = Object.hasOwn(secrets, id) ? secrets[id] : undefined
      if (secret === undefined) return undefined
      const made = derivedPair(secret)
      pairs.set(id, made)
      return made
    },
    async sealing() {
      const key = sealingKey(current)
      if (!key) throw new Error('the data keyring has no current key')
      return { id: current, key }
    },
    opening: async (id) => sealingKey(id),
  }
}
