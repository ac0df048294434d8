import { type KeyObject, sign } from 'node:crypto'
import { decodeProtectedHeader, errors, type JWTPayload, jwtVerify } from 'jose'
import { newId } from '#shared/kernel/ids.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { sha256 } from '#shared/kernel/secrets.ts'
import type { Deps } from '../work/work.ts'

/**
 * Kinds of token. Each has its own `typ` and `aud`, so that none is accepted in place of another (RFC 8725 §3.11).
 * The claims only name records. Each request reads those records, so that revocation takes effect at once
 * (contract/oauth-and-tokens.md#kinds-of-token). `ring` signs them.
 */
export const TOKENS = {
  access: { typ: 'at+jwt', audience: '/api/v1', life: LIMITS.accessTokenLife, ring: 'access' },
  callback: { typ: 'callback+jwt', audience: '/api/v1#callback', life: LIMITS.callbackTokenLife, ring: 'callback' },
  surface: { typ: 'surface+jwt', audience: '/api/v1#surface', life: LIMITS.surfaceTokenLife, ring: 'console' },
  console: { typ: 'console+jwt', audience: '/console', life: LIMITS.consoleSessionLife, ring: 'console' },
  admin: { typ: 'admin+jwt', audience: '/admin', life: LIMITS.adminTokenLife, ring: 'staff' },
  /** A person's token for an assistant. It names its resource as audience, `/mcp` by default. */
  person: { typ: 'person+jwt', audience: '/mcp', life: LIMITS.personTokenLife, ring: 'access' },
} as const

export type TokenKind = keyof typeof TOKENS

export interface Claims {
  /** `scp` are the scopes of a token that has fewer than its grant (RFC 6749 §6). */
  access: { ins: string; ws: string; app: string; grt: string; sv: number; scp?: string }
  /**
   * `grt` is the grant that the run began under; absent for a direct install. `lim`: the token has only the scopes of that
   * grant, because an access token renewed it. `scp` is that token's.
   */
  callback: {
    ins: string
    ws: string
    app: string
    run: string
    grt?: string | undefined
    lim?: true
    scp?: string
    sv: number
  }
  /** `mem` is the start of the person's membership. A later membership of theirs doesn't revive the token. */
  surface: { ins: string; ws: string; app: string; usr: string; mem: number; sv: number }
  console: { ses: string; usr: string; ws: string; mem: number }
  admin: { adm: string; ses: string }
  person: { grt: string; ws: string; usr: string; scp?: string }
}

export type Verified = { [K in TokenKind]: { kind: K; claims: Claims[K]; expiresAt: number } }[TokenKind]

/** Authorization server that issued a token; undefined is the platform's first (contract/connect.md#two-issuers). */
export type Issuer = 'connect' | undefined

/** Returns the identifier of an issuer (RFC 8414 §2). */
export const issuerUrl = ({ baseUrl }: Pick<Deps['settings'], 'baseUrl'>, issuer: Issuer): string =>
  issuer === 'connect' ? `${baseUrl}/connect` : baseUrl

/**
 * Issues a token signed with the ring's current key. `expires_in` is in seconds.
 *
 * ES256, so that functions that verify a token can't issue one.
 * @param options.at path that the token is for, if its kind has several
 */
export const issueToken = async <K extends TokenKind>(
  { clock, settings, keys }: Pick<Deps, 'clock' | 'settings' | 'keys'>,
  kind: K,
  claims: Claims[K],
  { at = TOKENS[kind].audience, issuer }: { at?: string; issuer?: Issuer } = {},
): Promise<{ token: string; expires_in: number; expiresAt: number }> => {
  const { typ, life, ring: ringName } = TOKENS[kind]
  const ring = await keys[ringName]()
  const now = Math.floor(clock.now() / 1_000)
  const text = [
    { alg: 'ES256', typ, kid: ring.currentId },
    {
      ...claims,
      jti: newId('request', clock.now()).slice(4),
      iss: issuerUrl(settings, issuer),
      aud: settings.baseUrl + at,
      iat: now,
      exp: now + life / 1_000,
    },
  ]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
  const key = ring.signing()?.privateKey
  if (!key) throw new Error(`the ring ${ringName} has no current key`)
  return {
    token: `${text}.${signed(key, text).toString('base64url')}`,
    expires_in: life / 1_000,
    expiresAt: now + life / 1_000,
  }
}

/** Order of the group of P-256, and half of it. */
const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n
const HALF = ORDER / 2n

/**
 * Signs with ES256 (RFC 7518 §3.4), by `node:crypto`: jose's WebCrypto hands each signature to another thread. Of the two
 * signatures `(r, s)` and `(r, n − s)`, which are both right, the platform uses the lower one.
 */
const signed = (key: KeyObject, text: string): Buffer => {
  const signature = sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' })
  const s = scalarOf(signature)
  return s <= HALF
    ? signature
    : Buffer.concat([signature.subarray(0, 32), Buffer.from((ORDER - s).toString(16).padStart(64, '0'), 'hex')])
}

const scalarOf = (signature: Buffer): bigint => BigInt(`0x${signature.toString('hex', 32)}`)

/**
 * Matches a compact JWS in the only encoding that RFC 7515 §2 allows: no padding, and zeros in the spare bits of the last
 * character. jose accepts other encodings, so one token could have several texts.
 */
const COMPACT = /^[\w-]+\.[\w-]+\.[\w-]{85}[AQgw]$/

/**
 * Verifies a token whose `typ` is one of the given kinds.
 * @param at paths of which the token must name one as its audience; default: that of its kind
 * @returns undefined for anything but a valid, unexpired token of one of these kinds
 */
export const verifyToken = async (
  deps: Pick<Deps, 'clock' | 'settings' | 'keys'>,
  token: string,
  kinds: readonly TokenKind[],
  at?: readonly string[],
): Promise<Verified | undefined> => {
  try {
    const { alg, typ, kid } = decodeProtectedHeader(token)
    const kind = kinds.find((candidate) => TOKENS[candidate].typ === typ)
    // A kid that is not a string would be converted to one by the lookup.
    if (!kind || typeof kid !== 'string' || alg !== 'ES256' || !COMPACT.test(token)) return undefined
    const payload = await verifySigned(deps, token, { kind, kid, at })
    return payload && ({ kind, claims: payload, expiresAt: payload.exp } as unknown as Verified)
  } catch (error) {
    if (error instanceof errors.JOSEError || error instanceof TypeError) return undefined
    throw error
  }
}

const expectations = (
  { clock, settings }: Pick<Deps, 'clock' | 'settings'>,
  kind: TokenKind,
  at: readonly string[] = [TOKENS[kind].audience],
) => ({
  typ: TOKENS[kind].typ,
  issuer: [issuerUrl(settings, undefined), issuerUrl(settings, 'connect')],
  audience: at.map((path) => settings.baseUrl + path),
  currentDate: new Date(clock.now()),
  requiredClaims: ['exp', 'iat'],
})

/**
 * Claims of tokens whose signature was found right, by the key and the token's hash. A signature costs 120 µs, its hash
 * two. A retired key is no longer found, and its tokens with it.
 */
const known = new WeakMap<KeyObject, Map<string, JWTPayload>>()
const KNOWN_MAX = 1_000

const verifySigned = async (
  deps: Pick<Deps, 'clock' | 'settings' | 'keys'>,
  token: string,
  { kind, kid, at }: { kind: TokenKind; kid: string; at: readonly string[] | undefined },
): Promise<JWTPayload | undefined> => {
  const key = await deps.keys.publicKeys.find(TOKENS[kind].ring, kid)
  if (!key) return undefined
  const expected = expectations(deps, kind, at)
  const tokens = known.get(key) ?? new Map<string, JWTPayload>()
  const hash = sha256(`${expected.audience.join(' ')}\n${token}`)
  const before = tokens.get(hash)
  if (before) return (before.exp ?? 0) * 1_000 > deps.clock.now() ? before : undefined
  if (scalarOf(Buffer.from(token.slice(token.lastIndexOf('.') + 1), 'base64url')) > HALF) return undefined
  const { payload } = await jwtVerify(token, key, { ...expected, algorithms: ['ES256'] })
  if (tokens.size >= KNOWN_MAX) tokens.clear()
  known.set(key, tokens.set(hash, payload))
  return payload
}
