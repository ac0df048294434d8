import { createHmac, timingSafeEqual } from 'node:crypto'

/** Clock settings of a verifier. */
export interface Clock {
  /** Unix seconds. Default: now. */
  now?: number
  /** Allowed difference from the signature's timestamp in seconds, in both directions. Default: 300. */
  tolerance?: number
}

/**
 * Checks `X-SVC-Signature: t=<unix seconds>,v1=<hex>`. One `v1` must be the HMAC-SHA256 of `<t>.<body>`, keyed with the whole
 * secret as text. The comparison takes constant time.
 *
 * @param secret `whsec_…` of a subscription, or `agsec_…` of an app
 * @param body the raw bytes, before any parsing
 */
export const verifySvc = (secret: string, header: string, body: string | Uint8Array, clock: Clock = {}): boolean => {
  const parts = header.split(',').map((part) => part.trim())
  const times = parts.filter((part) => part.startsWith('t=')).map((part) => part.slice(2))
  const [time = ''] = times
  // With two timestamps, the one that is checked could differ from the one that is signed.
  if (times.length !== 1 || !isRecent(time, clock)) return false
  const expected = createHmac('sha256', secret).update(`${time}.`).update(body).digest('hex')
  return includes(
    parts.filter((part) => part.startsWith('v1=')).map((part) => part.slice(3)),
    expected,
  )
}

/** Headers of Standard Webhooks, version 1, by their names in lower case. */
export interface StandardHeaders {
  'webhook-id'?: string
  'webhook-timestamp'?: string
  'webhook-signature'?: string
}

/**
 * Checks the Standard Webhooks headers. One `v1,<base64>` must be the HMAC-SHA256 of `<id>.<t>.<body>`, keyed with the
 * base64-decoded part of the secret after its prefix. The comparison takes constant time.
 *
 * @param body the raw bytes, before any parsing
 */
export const verifyStandard = (
  secret: string,
  headers: StandardHeaders,
  body: string | Uint8Array,
  clock: Clock = {},
): boolean => {
  const { 'webhook-id': id = '', 'webhook-timestamp': time = '', 'webhook-signature': signatures = '' } = headers
  if (id === '' || !isRecent(time, clock)) return false
  const key = Buffer.from(secret.slice(secret.indexOf('_') + 1), 'base64')
  const expected = createHmac('sha256', key).update(`${id}.${time}.`).update(body).digest('base64')
  const candidates = signatures.split(' ').filter((signature) => signature.startsWith('v1,'))
  return includes(
    candidates.map((signature) => signature.slice(3)),
    expected,
  )
}

const isRecent = (time: string, { now = Date.now() / 1_000, tolerance = 300 }: Clock): boolean =>
  /^[0-9]{1,12}$/.test(time) && Math.abs(now - Number(time)) <= tolerance

/** Compares all signatures, so that the time taken reveals nothing. */
const includes = (signatures: string[], expected: string): boolean => {
  const right = Buffer.from(expected)
  return signatures
    .map((signature) => Buffer.from(signature))
    .map((signature) => signature.length === right.length && timingSafeEqual(signature, right))
    .includes(true)
}
