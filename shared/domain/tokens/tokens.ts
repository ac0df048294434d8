import { createHmac, type KeyObject } from 'node:crypto'
import { decodeProtectedHeader, errors, jwtVerify } from 'jose'
import { newId } from '../../kernel/ids.ts'
import type { Keyring } from '../../kernel/keyring.ts'
import { LIMITS } from '../../kernel/limits.ts'
import type { Deps } from '../deps.ts'

/**
 * Every kind of token has its own `typ` and `aud`, so that none is accepted in another's place (RFC 8725 §3.11).
 * The claims name records; a request still reads those, so that revocation takes effect at once (decisions §2).
 */
export const TOKENS = {
  access: { typ: 'at+jwt', audience: '/api/v1', life: LIMITS.accessTokenLife, ring: 'tokens' },
  callback: { typ: 'callback+jwt', audience: '/api/v1#callback', life: LIMITS.callbackTokenLife, ring: 'tokens' },
  surface: { typ: 'surface+jwt', audience: '/api/v1#surface', life: LIMITS.surfaceTokenLife, ring: 'tokens' },
  console: { typ: 'console+jwt', audience: '/console', life: LIMITS.consoleSessionLife, ring: 'tokens' },
  admin: { typ: 'admin+jwt', audience: '/admin', life: LIMITS.adminTokenLife, ring: 'admin' },
} as const

export type TokenKind = keyof typeof TOKENS

export interface Claims {
  access: { ins: string; ws: string; app: string; grt: string; sv: number }
  callback: { ins: string; ws: string; app: string; run: string; sv: number }
  surface: { ins: string; ws: string; app: string; usr: string; sv: number }
  console: { ses: string; usr: string; ws: string }
  admin: { adm: string; sv: number }
}

export type Verified = { [K in TokenKind]: { kind: K; claims: Claims[K]; expiresAt: number } }[TokenKind]

/** Signs a token (HS256) with the ring's current key. `expires_in` in seconds. */
export const issueToken = async <K extends TokenKind>(
  { clock, settings, keys }: Pick<Deps, 'clock' | 'settings' | 'keys'>,
  kind: K,
  claims: Claims[K],
): Promise<{ token: string; expires_in: number; expiresAt: number }> => {
  const { typ, audience, life, ring: ringName } = TOKENS[kind]
  const ring = await keys[ringName]()
  const key = ring.secret('jwt')
  if (!key) throw new Error('the token keyring has no current key')
  const now = Math.floor(clock.now() / 1_000)
  const token = signed(
    key,
    { alg: 'HS256', typ, kid: ring.currentId },
    {
      ...claims,
      jti: newId('request', clock.now()).slice(4),
      iss: settings.baseUrl,
      aud: settings.baseUrl + audience,
      iat: now,
      exp: now + life / 1_000,
    },
  )
  return { token, expires_in: life / 1_000, expiresAt: now + life / 1_000 }
}

/**
 * A compact JWS (RFC 7515 §7.1). Made by `node:crypto`, because jose's WebCrypto hands each signature to another thread and
 * takes five times the CPU; what comes in is read by jose.
 */
const signed = (key: KeyObject, header: object, claims: object): string => {
  const text = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
  return `${text}.${createHmac('sha256', key).update(text).digest('base64url')}`
}

/**
 * A compact JWS with an HMAC-SHA256 in the one notation that RFC 7515 §2 has for it: no padding, and nothing in the two bits
 * that the last character has too many. jose takes others, and then one token would have several texts.
 */
const COMPACT = /^[\w-]+\.[\w-]+\.[\w-]{42}[AEIMQUYcgkosw048]$/

/**
 * Reads a token of whichever kind its `typ` says, if that kind is one of those looked for.
 * @returns undefined for anything that is not a valid, unexpired token of such a kind
 */
export const verifyToken = async (
  { clock, settings, keys }: Pick<Deps, 'clock' | 'settings' | 'keys'>,
  token: string,
  kinds: readonly TokenKind[],
): Promise<Verified | undefined> => {
  if (!COMPACT.test(token)) return undefined
  try {
    const { typ } = decodeProtectedHeader(token)
    const kind = kinds.find((one) => TOKENS[one].typ === typ)
    if (!kind) return undefined
    const { audience, ring: ringName } = TOKENS[kind]
    const ring: Keyring = await keys[ringName]()
    const { payload } = await jwtVerify(
      token,
      async ({ kid }) => {
        // What is no text would be made one on the way to the ring.
        const key = typeof kid === 'string' ? await ring.key('jwt', kid) : undefined
        if (!key) throw new errors.JWKSNoMatchingKey()
        return key
      },
      {
        algorithms: ['HS256'],
        typ: TOKENS[kind].typ,
        issuer: settings.baseUrl,
        audience: settings.baseUrl + audience,
        currentDate: new Date(clock.now()),
        requiredClaims: ['exp', 'iat'],
      },
    )
    return { kind, claims: payload, expiresAt: payload.exp } as unknown as Verified
  } catch (error) {
    if (error instanceof errors.JOSEError || error instanceof TypeError) return undefined
    throw error
  }
}
