import * as z from 'zod'

/** Fields of private and of shared keys, in all types of keys (RFC 7518 §6). */
const SECRET_FIELDS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k']

/** Fields that each type of public key needs. */
const PUBLIC_FIELDS: Readonly<Record<string, readonly string[]>> = {
  EC: ['crv', 'x', 'y'],
  OKP: ['crv', 'x'],
  RSA: ['n', 'e'],
}

/** 2,048 bits as base64url. */
const RSA_MIN_CHARS = 342

/** Returns what is wrong with a public key, if anything. */
const problemOf = (key: Readonly<Record<string, unknown>>): string | undefined => {
  if (SECRET_FIELDS.some((field) => field in key)) {
    return 'is a private or shared key. Send the public part only, and replace the key: it was disclosed'
  }
  const fields = PUBLIC_FIELDS[String(key.kty)]
  if (!fields) return 'must have a kty of EC, OKP or RSA'
  const lacking = fields.filter((field) => typeof key[field] !== 'string' || key[field] === '')
  if (lacking.length > 0) return `lacks ${lacking.join(', ')}`
  if (key.kty === 'RSA' && String(key.n).length < RSA_MIN_CHARS) return 'must have at least 2,048 bits'
  return JSON.stringify(key).length > 2_000 ? 'must be at most 2,000 characters long' : undefined
}

const clientKey = () =>
  z
    .record(z.string(), z.unknown())
    .superRefine((key, context) => {
      const message = problemOf(key)
      if (message !== undefined) context.addIssue({ code: 'custom', message })
    })
    .meta({ id: 'ClientKey', description: 'A public key (RFC 7517).' })

/** Public keys by which the app proves itself at `/connect` (contract/connect.md#clients-and-errors). */
export const clientKeys = () =>
  z.strictObject({ keys: z.array(clientKey()).min(1).max(10) }).meta({
    id: 'ClientKeys',
    description: 'Public keys for `private_key_jwt` at `/connect`, as a JWK Set.',
    example: {
      keys: [{ kty: 'OKP', crv: 'Ed25519', kid: '2026-11', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' }],
    },
  })

/** Public keys as the API shows them. */
export const shownClientKeys = () =>
  z
    .object({ keys: z.array(z.record(z.string(), z.unknown())) })
    .meta({ id: 'ShownClientKeys', description: 'Public keys for `private_key_jwt` at `/connect`, as a JWK Set.' })
