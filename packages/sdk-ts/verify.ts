/** Clock settings of a verifier. */
export interface Clock {
  /** Unix seconds. Default: now. */
  now?: number | undefined
  /** Allowed difference from the signature's timestamp in seconds, in both directions. Default: 300. */
  tolerance?: number | undefined
}

/** A request whose signature is missing, wrong or too old. Respond with 401. */
export class SignatureError extends Error {
  constructor() {
    super('The signature is missing, wrong or too old. Is the secret the one of this app or subscription?')
    this.name = 'SignatureError'
  }
}

export type AnyHeaders = Headers | Record<string, string | readonly string[] | undefined>

/** Reads a header of a Fetch API request, or of an object whose names are in any case. */
const headerOf = (headers: AnyHeaders, name: string): string | undefined => {
  if (headers instanceof Headers) return headers.get(name) ?? undefined
  const values = Object.keys(headers)
    .filter((key) => key.toLowerCase() === name)
    .flatMap((key) => headers[key] ?? [])
  return values.length === 0 ? undefined : values.join(',')
}

/**
 * Checks a request's signature: `X-SVC-Signature` if the request has one, otherwise the headers of Standard Webhooks.
 *
 * @param secrets `agsec_…` of an app or `whsec_…` of a subscription; several while you rotate
 * @param headers of a Fetch API request, or an object with names in any case
 * @param body the raw bytes, before any parsing
 */
export const isSigned = async (
  secrets: string | readonly string[],
  headers: AnyHeaders,
  body: Uint8Array,
  clock?: Clock,
): Promise<boolean> => {
  const svc = headerOf(headers, 'x-svc-signature')
  const standard = {
    'webhook-id': headerOf(headers, 'webhook-id'),
    'webhook-timestamp': headerOf(headers, 'webhook-timestamp'),
    'webhook-signature': headerOf(headers, 'webhook-signature'),
  }
  const list = typeof secrets === 'string' ? [secrets] : secrets
  const verdicts = await Promise.all(
    list.map((secret) =>
      svc === undefined ? verifyStandard(secret, standard, body, clock) : verifySvc(secret, svc, body, clock),
    ),
  )
  return verdicts.includes(true)
}

/**
 * Checks `X-SVC-Signature: t=<unix seconds>,v1=<hex>`. One `v1` must be the HMAC-SHA256 of `<t>.<body>`, keyed with the whole
 * secret as text. The comparison takes constant time.
 */
export const verifySvc = async (
  secret: string,
  header: string,
  body: string | Uint8Array,
  clock: Clock = {},
): Promise<boolean> => {
  const parts = header.split(',').map((part) => part.trim())
  const times = parts.filter((part) => part.startsWith('t=')).map((part) => part.slice(2))
  const [time = ''] = times
  // With two timestamps, the one that is checked could differ from the one that is signed.
  if (times.length !== 1 || !isRecent(time, clock)) return false
  const signatures = parts.filter((part) => /^v1=[0-9a-f]{64}$/.test(part)).map((part) => fromHex(part.slice(3)))
  return includes(utf8(secret), `${time}.`, body, signatures)
}

/** Headers of Standard Webhooks, version 1, by their names in lower case. */
export interface StandardHeaders {
  'webhook-id'?: string | undefined
  'webhook-timestamp'?: string | undefined
  'webhook-signature'?: string | undefined
}

/**
 * Checks the Standard Webhooks headers. One `v1,<base64>` must be the HMAC-SHA256 of `<id>.<t>.<body>`, keyed with the
 * base64-decoded part of the secret after its prefix. The comparison takes constant time.
 */
export const verifyStandard = async (
  secret: string,
  headers: StandardHeaders,
  body: string | Uint8Array,
  clock: Clock = {},
): Promise<boolean> => {
  const { 'webhook-id': id = '', 'webhook-timestamp': time = '', 'webhook-signature': signatures = '' } = headers
  const key = fromBase64(secret.slice(secret.indexOf('_') + 1))
  if (id === '' || !isRecent(time, clock) || key === undefined || key.length === 0) return false
  const candidates = signatures
    .split(' ')
    .filter((signature) => signature.startsWith('v1,'))
    .map((signature) => fromBase64(signature.slice(3)))
  return includes(
    key,
    `${id}.${time}.`,
    body,
    candidates.filter((signature) => signature !== undefined),
  )
}

const isRecent = (time: string, { now = Date.now() / 1_000, tolerance = 300 }: Clock): boolean =>
  /^[0-9]{1,12}$/.test(time) && Math.abs(now - Number(time)) <= tolerance

type Bytes = Uint8Array<ArrayBuffer>

const utf8 = (text: string): Bytes => new TextEncoder().encode(text)

const fromHex = (hex: string): Bytes => Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))

/** Returns undefined for text that isn't base64 in its standard form. */
const fromBase64 = (text: string): Bytes | undefined => {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text) || text.length % 4 !== 0) return undefined
  const decoded = atob(text)
  return btoa(decoded) === text ? Uint8Array.from(decoded, (character) => character.charCodeAt(0)) : undefined
}

/** Compares all signatures, with WebCrypto's constant-time comparison. */
const includes = async (key: Bytes, prefix: string, body: string | Uint8Array, signatures: Bytes[]) => {
  const imported = await crypto.subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
  const head = utf8(prefix)
  const rest = typeof body === 'string' ? utf8(body) : body
  const signed = new Uint8Array(head.length + rest.length)
  signed.set(head)
  signed.set(rest, head.length)
  const verdicts = await Promise.all(
    signatures.map((signature) => crypto.subtle.verify('HMAC', imported, signature, signed)),
  )
  return verdicts.includes(true)
}
