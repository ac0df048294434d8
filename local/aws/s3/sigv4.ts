import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { AwsError } from '../error.ts'

/** The signed parts of a request. Header names are in lower case. */
export interface SignedRequest {
  method: string
  /** Path as sent. */
  path: string
  query: URLSearchParams
  headers: Record<string, string | undefined>
}

/** Key pair of the local run. It protects nothing and only lets signatures be right or wrong. */
export const LOCAL_ACCESS_KEY = 'local'
export const LOCAL_SECRET_KEY = 'local-secret-access-key'

const ALGORITHM = 'AWS4-HMAC-SHA256'
const MAX_SKEW_MS = 15 * 60_000
const MAX_EXPIRES_SECONDS = 604_800

const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()

const encode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)

const canonicalPath = (path: string): string =>
  path
    .split('/')
    .map((segment) => encode(decodeURIComponent(segment)))
    .join('/')

const canonicalQuery = (query: URLSearchParams): string =>
  [...query]
    .filter(([name]) => name !== 'X-Amz-Signature')
    .map(([name, value]) => [encode(name), encode(value)] as const)
    .sort(([a, x], [b, y]) => (a < b ? -1 : a > b ? 1 : x < y ? -1 : x > y ? 1 : 0))
    .map(([name, value]) => `${name}=${value}`)
    .join('&')

/** Parses `20260121T101530Z` to epoch milliseconds. */
const parseDate = (text: string): number =>
  Date.parse(text.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'))

interface Claim {
  credential: string
  signedHeaders: string[]
  signature: string
  date: string
  payloadHash: string
  /** Seconds of validity of a presigned address. */
  expires: number | undefined
}

const denied = (message: string) => new AwsError('AccessDenied', message, 403)

const fromQuery = ({ query, headers }: SignedRequest): Claim => {
  const field = (name: string) => {
    const value = query.get(name)
    if (!value) throw new AwsError('AuthorizationQueryParametersError', `Query-string authentication requires ${name}.`)
    return value
  }
  if (field('X-Amz-Algorithm') !== ALGORITHM) {
    throw new AwsError('AuthorizationQueryParametersError', `X-Amz-Algorithm only supports "${ALGORITHM}"`)
  }
  const expires = Number(field('X-Amz-Expires'))
  if (!(Number.isInteger(expires) && expires >= 0 && expires <= MAX_EXPIRES_SECONDS)) {
    const message =
      'X-Amz-Expires must be less than a week (in seconds); that is, the given X-Amz-Expires must be less than 604800 seconds'
    throw new AwsError('AuthorizationQueryParametersError', message)
  }
  return {
    credential: field('X-Amz-Credential'),
    signedHeaders: field('X-Amz-SignedHeaders').split(';'),
    signature: field('X-Amz-Signature'),
    date: field('X-Amz-Date'),
    payloadHash: query.get('X-Amz-Content-Sha256') ?? headers['x-amz-content-sha256'] ?? 'UNSIGNED-PAYLOAD',
    expires,
  }
}

const fromHeader = ({ headers }: SignedRequest): Claim => {
  const header = headers.authorization ?? ''
  const field = (name: string) => new RegExp(`${name}=([^,\\s]+)`).exec(header)?.[1] ?? ''
  if (!header.startsWith(ALGORITHM)) throw denied('Access Denied')
  return {
    credential: field('Credential'),
    signedHeaders: field('SignedHeaders').split(';'),
    signature: field('Signature'),
    date: headers['x-amz-date'] ?? '',
    payloadHash: headers['x-amz-content-sha256'] ?? '',
    expires: undefined,
  }
}

const checkTime = ({ date, expires }: Claim, now: number) => {
  const at = parseDate(date)
  if (Number.isNaN(at)) throw denied('AWS authentication requires a valid Date or x-amz-date header')
  if (expires === undefined) {
    if (Math.abs(now - at) <= MAX_SKEW_MS) return
    const message = 'The difference between the request time and the current time is too large.'
    throw new AwsError('RequestTimeTooSkewed', message, 403)
  }
  if (at > now + MAX_SKEW_MS) throw denied('Request is not yet valid')
  if (now > at + expires * 1_000) throw denied('Request has expired')
}

/** Checks the headers that S3 requires to be signed besides the host: every `x-amz-*` header that is sent. */
const checkHeaders = ({ signedHeaders }: Claim, headers: SignedRequest['headers']) => {
  const unsigned = Object.keys(headers).filter((name) => name.startsWith('x-amz-') && !signedHeaders.includes(name))
  if (!signedHeaders.includes('host')) unsigned.push('host')
  if (unsigned.length > 0) throw denied(`There were headers present in the request which were not signed: ${unsigned}`)
}

/**
 * Verifies Signature Version 4 of an S3 request, in the header or in the query string (presigned).
 *
 * @returns the signed hash of the body in hex, or a marker such as `UNSIGNED-PAYLOAD`
 * @throws AwsError with S3's error: `AccessDenied` (nothing signed, expired), `InvalidAccessKeyId`,
 * `SignatureDoesNotMatch`, …
 */
export const verifySignature = (request: SignedRequest, now: number): string => {
  const presigned = request.query.has('X-Amz-Signature') || request.query.has('X-Amz-Algorithm')
  const claim = presigned ? fromQuery(request) : fromHeader(request)
  const [accessKey, day = '', region = '', service = '', terminator = ''] = claim.credential.split('/')
  if (accessKey !== LOCAL_ACCESS_KEY) {
    const message = 'The AWS Access Key Id you provided does not exist in our records.'
    throw new AwsError('InvalidAccessKeyId', message, 403)
  }
  checkTime(claim, now)
  checkHeaders(claim, request.headers)
  const canonicalHeaders = claim.signedHeaders.map(
    (name) => `${name}:${(request.headers[name] ?? '').trim().replace(/ +/g, ' ')}\n`,
  )
  const canonical = [
    request.method,
    canonicalPath(request.path),
    canonicalQuery(request.query),
    canonicalHeaders.join(''),
    claim.signedHeaders.join(';'),
    claim.payloadHash,
  ].join('\n')
  const scope = `${day}/${region}/${service}/${terminator}`
  const text = [ALGORITHM, claim.date, scope, createHash('sha256').update(canonical).digest('hex')].join('\n')
  const key = [region, service, terminator].reduce<Buffer>(hmac, hmac(`AWS4${LOCAL_SECRET_KEY}`, day))
  const expected = hmac(key, text)
  const given = Buffer.from(claim.signature, 'hex')
  const good = given.length === expected.length && timingSafeEqual(given, expected)
  if (!good || service !== 's3' || !claim.date.startsWith(day)) {
    const message =
      'The request signature we calculated does not match the signature you provided. Check your key and signing method.'
    throw new AwsError('SignatureDoesNotMatch', message, 403)
  }
  return claim.payloadHash
}
