import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import type { SealingKeys } from './keyring.ts'

/** Sizes of A256GCM (RFC 7518 §5.3). */
const IV_BYTES = 12
const TAG_BYTES = 16

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
  const iv = randomBytes(IV_BYTES)
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
  keys: Pick<SealingKeys, 'opening'>,
  record: string,
  sealed: string,
): Promise<Uint8Array> => {
  const [encodedHeader = '', encryptedKey, ...rest] = sealed.split('.')
  const [iv, text, tag] = rest.map((part) => Buffer.from(part, 'base64url'))
  if (encryptedKey !== '' || rest.length !== 3 || iv?.length !== IV_BYTES || !text || tag?.length !== TAG_BYTES)
    throw new Error('a sealed value is no compact JWE')
  const { alg, enc, kid, rec, crit, zip } = JSON.parse(Buffer.from(encodedHeader, 'base64url').toString())
  if (alg !== 'dir' || enc !== 'A256GCM' || crit !== undefined || zip !== undefined)
    throw new Error('a sealed value is encrypted in another way')
  const key = typeof kid === 'string' ? await keys.opening(kid) : undefined
  if (!key) throw new Error(`there is no data key ${kid}`)
  const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(encodedHeader))
    .setAuthTag(tag)
  const plain = Buffer.concat([decipher.update(text), decipher.final()])
  if (rec !== record) throw new Error('a sealed value was opened for another record')
  return plain
}

/** Decrypts a value as text. See {@link unsealBytes}. */
export const unseal = async (keys: Pick<SealingKeys, 'opening'>, record: string, sealed: string): Promise<string> =>
  new TextDecoder().decode(await unsealBytes(keys, record, sealed))
