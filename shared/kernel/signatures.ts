import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

/**
 * Returns the `X-SVC-Signature` header (contract/events-and-webhooks.md#signatures): `t=<unix seconds>,v1=<hex>`, one
 * `v1` per secret. The key is the whole secret as text, including its prefix. The signed text is `<t>.<raw body>`.
 *
 * @param secrets the current secret first, then others while a rotation overlaps
 * @param rawBody the bytes that are sent, not a second serialization
 */
export const signSvc = (secrets: string[], unixSeconds: number, rawBody: string | Uint8Array): string =>
  [
    `t=${unixSeconds}`,
    ...secrets.map((secret) => `v1=${svcDigest(secret, unixSeconds, rawBody).toString('hex')}`),
  ].join(',')

/** Headers of the Standard Webhooks specification, version 1. */
export interface StandardHeaders {
  'webhook-id': string
  'webhook-timestamp': string
  'webhook-signature': string
}

/**
 * Returns the Standard Webhooks headers: `v1,<base64>` per secret, separated by spaces. The key is the decoded base64
 * after the secret's prefix. The signed text is `<id>.<t>.<raw body>`.
 *
 * @param id the same for all attempts of one event, so that receivers can drop duplicates
 */
export const signStandard = (
  secrets: string[],
  id: string,
  unixSeconds: number,
  rawBody: string | Uint8Array,
): StandardHeaders => ({
  'webhook-id': id,
  'webhook-timestamp': String(unixSeconds),
  'webhook-signature': secrets
    .map((secret) => createHmac('sha256', secretBytes(secret)).update(`${id}.${unixSeconds}.`).update(rawBody))
    .map((hmac) => `v1,${hmac.digest('base64')}`)
    .join(' '),
})

/** Creates a signing secret: `whsec_` for a webhook subscription or `agsec_` for an app, then 32 random bytes in base64. */
export const newSigningSecret = (prefix: 'whsec_' | 'agsec_'): string => prefix + randomBytes(32).toString('base64')

/** Returns an app's signing secret in the form that Standard Webhooks libraries take: `whsec_` and the same base64. */
export const standardSecret = (secret: string): string => `whsec_${secret.slice(secret.indexOf('_') + 1)}`

/**
 * Verifies an `X-SVC-Signature`. One of the `v1` values must match, compared in constant time, and `t` must be within
 * the tolerance of the current time. Serves as the reference for receivers.
 *
 * @param rawBody the bytes received, before any parsing
 * @param nowSeconds the verifier's clock, Unix seconds
 * @param tolerance seconds
 */
export const verifySvc = (
  secret: string,
  header: string,
  rawBody: string | Uint8Array,
  nowSeconds: number,
  tolerance = 300,
): boolean => {
  const parts = header.split(',').map((part) => part.trim())
  const times = parts.filter((part) => part.startsWith('t=')).map((part) => part.slice(2))
  const time = times[0]
  // With two times, the one that is checked could differ from the one that is signed.
  if (times.length !== 1 || time === undefined || !/^\d{1,12}$/.test(time)) return false
  if (!(Math.abs(nowSeconds - Number(time)) <= tolerance)) return false
  const expected = svcDigest(secret, time, rawBody)
  let matches = false
  for (const part of parts) {
    if (/^v1=[0-9a-f]{64}$/.test(part) && timingSafeEqual(Buffer.from(part.slice(3), 'hex'), expected)) matches = true
  }
  return matches
}

const svcDigest = (secret: string, time: number | string, rawBody: string | Uint8Array): Buffer =>
  createHmac('sha256', secret).update(`${time}.`).update(rawBody).digest()

const secretBytes = (secret: string): Buffer => Buffer.from(secret.slice(secret.indexOf('_') + 1), 'base64')
