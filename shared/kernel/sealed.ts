import { createCipheriv, randomBytes } from 'node:crypto'
import { compactDecrypt } from 'jose'
import type { Keyring } from './keyring.ts'

/**
 * Encrypts a secret at rest as a compact JWE (RFC 7516, `dir` + `A256GCM`) that names its key and the record it belongs
 * to. The header is authenticated, so a value copied to another record does not open there (decisions §2).
 *
 * Not by jose, whose WebCrypto hands each value to another thread and takes several times the CPU.
 */
export const seal = async (ring: Keyring, record: string, plain: string | Uint8Array): Promise<string> => {
  const key = ring.secret('jwe')
  if (!key) throw new Error('the data keyring has no current key')
  const header = Buffer.from(JSON.stringify({ alg: 'dir', enc: 'A256GCM', kid: ring.currentId, rec: record }))
  const named = header.toString('base64url')
  const iv = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(named))
  const text = Buffer.concat([
    typeof plain === 'string' ? cipher.update(plain, 'utf8') : cipher.update(plain),
    cipher.final(),
  ])
  // With `dir` there is no encrypted key between header and IV.
  return [named, '', ...[iv, text, cipher.getAuthTag()].map((part) => part.toString('base64url'))].join('.')
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
