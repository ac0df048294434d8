import { CompactEncrypt, compactDecrypt } from 'jose'
import type { Keyring } from './keyring.ts'

/**
 * Encrypts a secret at rest as a compact JWE (RFC 7516, `dir` + `A256GCM`) that names its key and the record it belongs
 * to. The header is authenticated, so a value copied to another record does not open there (decisions §2).
 */
export const seal = async (ring: Keyring, record: string, plain: string | Uint8Array): Promise<string> => {
  const key = await ring.key('jwe')
  if (!key) throw new Error('the data keyring has no current key')
  const bytes = typeof plain === 'string' ? new TextEncoder().encode(plain) : plain
  return new CompactEncrypt(bytes)
    .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', kid: ring.currentId, rec: record })
    .encrypt(key)
}

/** Opens what {@link seal} made for the same record. Throws when it was made for another one or was changed. */
export const unsealBytes = async (ring: Keyring, record: string, sealed: string): Promise<Uint8Array> => {
  const { plaintext, protectedHeader } = await compactDecrypt(
    sealed,
    async ({ kid }) => {
      const key = await ring.key('jwe', kid)
      if (!key) throw new Error(`the data keyring has no key ${kid}`)
      return key
    },
    { keyManagementAlgorithms: ['dir'], contentEncryptionAlgorithms: ['A256GCM'] },
  )
  if (protectedHeader.rec !== record) throw new Error('a sealed value was opened for another record')
  return plaintext
}

/** {@link unsealBytes} as text. */
export const unseal = async (ring: Keyring, record: string, sealed: string): Promise<string> =>
  new TextDecoder().decode(await unsealBytes(ring, record, sealed))
