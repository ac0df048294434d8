import { createCipheriv, randomBytes } from 'node:crypto'
import { compactDecrypt } from 'jose'
import type { SealingKeys } from './keyring.ts'

/**
 * Encrypts a secret at rest as a compact JWE (RFC 7516, `dir` + `A256GCM`) that names its key and its record. The header
 * is authenticated, so a value copied to another record can't be decrypted there
 * (contract/oauth-and-tokens.md#secrets-at-rest).
 *
 * Doesn't use jose, whose WebCrypto hands each value to another thread and takes several times the CPU.
 */
export const seal = async (keys: SealingKeys, record: string, plain: string | Uint8Array): Promise<string> => {
  const { id: kid, key } = await keys.sealing()
  const header = Buffer.from(JSON.stringify({ alg: 'dir', enc: 'A256GCM', kid, rec: record }))
  const encodedHeader = header.toString('base64url')
  const iv = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(encodedHeader))
  const text = Buffer.concat([
    typeof plain === 'string' ? cipher.update(plain, 'utf8') : cipher.update(plain),
    cipher.final(),
  ])
  // With `dir` the encrypted key between header and IV is empty.
  return [encodedHeader, '', ...[iv, text, cipher.getAuthTag()].map((part) => part.toString('base64url'))].join('.')
}

/** Decrypts a value that {@link seal} encrypted for the same record. Throws if the record differs or the value was changed. */
export const unsealBytes = async (
  keys: Pick<SealingKeys, 'key'>,
  record: string,
  sealed: string,
): Promise<Uint8Array> => {
  const { plaintext, protectedHeader } = await compactDecrypt(
    sealed,
    async ({ kid }) => {
      const key = typeof kid === 'string' ? await keys.key('jwe', kid) : undefined
      if (!key) throw new Error(`there is no data key ${kid}`)
      return key
    },
    { keyManagementAlgorithms: ['dir'], contentEncryptionAlgorithms: ['A256GCM'] },
  )
  if (protectedHeader.rec !== record) throw new Error('a sealed value was opened for another record')
  return plaintext
}

/** Decrypts a value as text. See {@link unsealBytes}. */
export const unseal = async (keys: Pick<SealingKeys, 'key'>, record: string, sealed: string): Promise<string> =>
  new TextDecoder().decode(await unsealBytes(keys, record, sealed))
