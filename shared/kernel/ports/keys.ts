import type { KeyObject } from 'node:crypto'
import type { Keyring, SealingKeys } from '../keyring.ts'

/** Rings that sign tokens. Only functions that issue such tokens read one; the others read its public keys. */
export const SIGNING_RINGS = ['access', 'callback', 'console', 'staff'] as const

/** Names of the keyrings. Each is a secret of its own. */
export const RING_NAMES = ['data', 'receipts', 'cards', ...SIGNING_RINGS] as const

export type RingName = (typeof RING_NAMES)[number]
export type SigningRing = (typeof SIGNING_RINGS)[number]

export const isSigningRing = (name: string): name is SigningRing => (SIGNING_RINGS as readonly string[]).includes(name)

/** Prefix of the public keys in the bucket, one object per ring. Only functions that read the ring may write its object. */
export const PUBLIC_KEYS_PREFIX = 'public-keys'

/** Prefix of the workspaces' data keys in the keys' bucket, one object each. */
export const DATA_KEYS_PREFIX = 'data-keys'

/** Public halves of the keys that sign tokens. */
export interface PublicKeys {
  /** Returns the public key of that id, or undefined for an unknown id. */
  find(ring: SigningRing, id: string): Promise<KeyObject | undefined>
}

/** Keyrings, each loaded on first use. A function can read only those that its endpoints or worker declare. */
export interface Keys extends Record<RingName, () => Promise<Keyring>> {
  publicKeys: PublicKeys
  /** Returns the data key of a workspace, which is created when it first encrypts. */
  ofWorkspace(id: string): SealingKeys
  /** Destroys the data key of a workspace. Nothing opens what it encrypted, in the table, in backups or anywhere else. */
  destroyWorkspaceKey(id: string): Promise<void>
}
