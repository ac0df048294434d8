import * as crypto from 'node:crypto'
import { promisify } from 'node:util'

/** OWASP's first recommendation for argon2id: 19 MiB, 2 passes, 1 lane (about 35 ms of CPU). */
const ARGON = { memory: 19_456, passes: 2, parallelism: 1, tagLength: 32 } as const

/** For runtimes without argon2 (Node before 24.7): OWASP's scrypt, 32 MiB. */
const SCRYPT = { N: 32_768, r: 8, p: 3, maxmem: 64 * 1_024 * 1_024 } as const
const SALT_BYTES = 16
type Algorithm = 'argon2id' | 'scrypt'

const derive = async (algorithm: Algorithm, password: string, salt: Uint8Array): Promise<Buffer> =>
  algorithm === 'argon2id'
    ? promisify(crypto.argon2)('argon2id', { ...ARGON, message: password, nonce: salt })
    : new Promise((resolve, reject) => {
        crypto.scrypt(password, salt, ARGON.tagLength, SCRYPT, (error, key) => (error ? reject(error) : resolve(key)))
      })

const preferred = (): Algorithm => (typeof crypto.argon2 === 'function' ? 'argon2id' : 'scrypt')

/** Hashes a password as `<algorithm>$<salt>$<tag>` in base64url, so that hashes of both algorithms can coexist. */
export const hashPassword = async (password: string, algorithm = preferred()): Promise<string> => {
  const salt = crypto.randomBytes(SALT_BYTES)
  const tag = await derive(algorithm, password, salt)
  return [algorithm, salt.toString('base64url'), tag.toString('base64url')].join('$')
}

/**
 * Compares a password with its stored hash. Without a stored hash it takes the same time and returns false, so that
 * timing doesn't reveal whether an account exists.
 */
export const verifyPassword = async (password: string, stored: string | undefined): Promise<boolean> => {
  const [algorithm, salt = '', tag = ''] = (stored ?? preferred()).split('$')
  const expected = Buffer.alloc(ARGON.tagLength, tag, 'base64url')
  const actual = await derive(
    algorithm === 'scrypt' ? 'scrypt' : 'argon2id',
    password,
    salt ? Buffer.from(salt, 'base64url') : Buffer.alloc(SALT_BYTES),
  )
  return crypto.timingSafeEqual(actual, expected) && stored !== undefined
}
