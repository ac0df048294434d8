import { createHmac, timingSafeEqual } from 'node:crypto'

/** How a verifier looks at time. */
export interface Clock {
  /** Unix seconds. Default: now. */
  now?: number
  /** Seconds that the signature's time may lie apart, before or after. Default 300. */
  tolerance?: number
}

/**
 * Checks `X-SVC-Signature: t=<unix seconds>,v1=<hex>`: one of the `v1` has to be the HMAC-SHA256 of `<t>.<body>`, keyed with
 * the whole secret as text, compared in constant time.
 *
 * @param secret `whsec_…` of a subscription, or `agsec_…` of an app
 * @param body the bytes as they came, before any parsing
 */
export const verifySvc = (secret: string, header: string, body: string | Uint8Array, clock: Clock = {}): boolean => {
  const parts = header.split(',').map((part) => part.trim())
  const times = parts.filter((part) => part.startsWith('t=')).map((part) => part.slice(2))
  const [time = ''] = times
  // Two times would let the one that is checked differ from the one that is signed.
  if (times.length !== 1 || !isRecent(time, clock)) return false
  const expected = createHmac('sha256', secret).update(`${time}.`).update(body).digest('hex')
  return includes(
    parts.filter((part) => part.startsWith('v1=')).map((part) => part.slice(3)),
    expected,
  )
}

/** The headers of Standard Webhooks, version 1, by their names in lower case. */
export interface StandardHeaders {
  'webhook-id'?: string
  'webhook-timestamp'?: string
  'webhook-signature'?: string
}

/**
 * Checks the Standard Webhooks headers: one of the `v1,<base64>` has to be the HMAC-SHA256 of `<id>.<t>.<body>`, keyed with
 * the bytes that the base64 text after the secret's prefix stands for, compared in constant time.
 *
 * @param body the bytes as they came, before any parsing
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
  const known = signatures.split(' ').filter((one) => one.startsWith('v1,'))
  return includes(
    known.map((one) => one.slice(3)),
    expected,
  )
}

const isRecent = (time: string, { now = Date.now() / 1_000, tolerance = 300 }: Clock): boolean =>
  /^[0-9]{1,12}$/.test(time) && Math.abs(now - Number(time)) <= tolerance

/** Looks at all of them, so that the time it takes tells nothing. */
const includes = (signatures: string[], expected: string): boolean => {
  const right = Buffer.from(expected)
  return signatures
    .map((signature) => Buffer.from(signature))
    .map((one) => one.length === right.length && timingSafeEqual(one, right))
    .includes(true)
}
