import { createHmac, generateKeyPairSync, hkdfSync, type KeyObject, sign } from 'node:crypto'
import { CompactEncrypt, CompactSign, type JWTHeaderParameters } from 'jose'
import { beforeAll, describe, expect, it } from 'vitest'
import { issueToken, TOKENS, type TokenKind } from '#shared/foundation/tokens/tokens.ts'
import { newId, stampOf } from '#shared/kernel/ids.ts'
import type { KeyPurpose } from '#shared/kernel/keyring.ts'
import { RING_NAMES, type RingName } from '#shared/kernel/ports/keys.ts'
import { AdminEntity } from '#shared/staff/admins/entity.ts'
import { adminToken, callbackToken, installed } from '#testkit/fixtures.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { bearer, expectRefusal } from './support.ts'

const platform = usingPlatform()

/** A kind of token for the platform's own API. Those of people's hosts have their own tests (test/attacks/hosts.test.ts). */
type Kind = Exclude<TokenKind, 'person'>

/** Endpoint that each kind of token opens. */
const OPENS: Record<Kind, string> = {
  access: '/api/v1/me',
  callback: '/api/v1/me',
  surface: '/api/v1/workspace',
  console: '/console/me',
  admin: '/admin/me',
}
const KINDS = Object.keys(OPENS) as Kind[]

interface Good {
  kind: Kind
  token: string
  header: Record<string, unknown>
  claims: Record<string, unknown>
}
const good = {} as Record<Kind, Good>
beforeAll(async () => {
  const { deps } = platform
  const app = await installed(deps)
  const { body: run } = await platform.call('POST', '/api/v1/runs', { token: app.token, body: {} })
  const now = deps.clock.now()
  const admin = { ...stampOf(newId('admin', now)), email: 'mo@example.com', name: 'Mo', role: 'superadmin' as const }
  await deps.table.transact([AdminEntity.create({ ...admin, password_hash: 'none', session_version: 1 })])
  const of = { ins: app.installation.id, ws: app.workspaceId, app: app.app.id, sv: 1 }
  const made: Record<Kind, string> = {
    access: app.token,
    callback: await callbackToken(deps, app, run.id),
    surface: (await issueToken(deps, 'surface', { ...of, usr: app.person.user.id, mem: now })).token,
    console: app.person.token,
    admin: await adminToken(deps, admin.id),
  }
  for (const kind of KINDS) {
    const [header, claims] = made[kind]
      .split('.')
      .slice(0, 2)
      .map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()))
    good[kind] = { kind, token: made[kind], header, claims }
  }
})

const text = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const bytesOf = async (ring: RingName, purpose: KeyPurpose = 'jwe') =>
  (await platform.deps.keys[ring]()).bytes(purpose) as Uint8Array
const ringOf = ({ kind }: Good) => TOKENS[kind].ring
const privateKeyOf = async (ring: RingName) => (await platform.deps.keys[ring]()).signing()?.privateKey as KeyObject

const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n
/** Returns the other right signature of the same text: (r, n − s). */
const mirrored = (signature: Buffer): Buffer => {
  const s = ORDER - BigInt(`0x${signature.toString('hex', 32)}`)
  return Buffer.concat([signature.subarray(0, 32), Buffer.from(s.toString(16).padStart(64, '0'), 'hex')])
}

/** Signs a text as the platform does. */
const withSignature = (input: string, key: KeyObject): string => {
  const signature = sign('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' })
  const isLow = (signature[32] ?? 0) < 0x80
  return `${input}.${(isLow ? signature : mirrored(signature)).toString('base64url')}`
}

/** Signs any header and claims as the platform does. */
const signed = async (one: Good, header: object = {}, claims: object = {}, ring: RingName = ringOf(one)) =>
  withSignature(
    [text({ ...one.header, ...header }), text({ ...one.claims, ...claims })].join('.'),
    await privateKeyOf(ring),
  )
/** Signs with another key, whatever the header says. */
const forged = (one: Good, key: string | Uint8Array, header: object = {}, claims: object = {}): string => {
  const input = [text({ ...one.header, alg: 'HS256', ...header }), text({ ...one.claims, ...claims })].join('.')
  return `${input}.${createHmac('sha256', key).update(input).digest('base64url')}`
}
const unsigned = (one: Good, alg: unknown, signature = ''): string =>
  `${text({ ...one.header, alg })}.${text(one.claims)}.${signature}`

const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 })
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const ed = generateKeyPairSync('ed25519')
const rsaPem = rsa.publicKey.export({ type: 'spki', format: 'pem' }).toString()
const asymmetric = (alg: string, key: typeof rsa.privateKey) => async (one: Good) =>
  new CompactSign(new TextEncoder().encode(JSON.stringify(one.claims)))
    .setProtectedHeader({ ...one.header, alg } as JWTHeaderParameters)
    .sign(key)

const other = (one: Good): Kind => (one.kind === 'console' ? 'access' : 'console')
const atOnce = (claims: (one: Good) => object) => (one: Good) => signed(one, {}, claims(one))
const withHeader = (header: (one: Good) => object) => (one: Good) => signed(one, header(one))
const flipped = (part: string, at: number): string => {
  const bytes = Buffer.from(part, 'base64url')
  bytes[at] = (bytes[at] ?? 0) ^ 1
  return bytes.toString('base64url')
}
const parts = (one: Good) => one.token.split('.') as [string, string, string]
const KIDS = [
  '',
  'k2',
  'current',
  'constructor',
  '__proto__',
  'toString',
  '../../../dev/null',
  '/dev/null',
  "k1' OR '1'='1",
  'k1\u0000',
  'K1',
  'k1 ',
  'k'.repeat(2_000),
]

/** Forgeries of a valid token, by technique. */
const FORGERIES: Record<string, (one: Good) => string | Promise<string>> = {
  'alg none': (one) => unsigned(one, 'none'),
  'alg None': (one) => unsigned(one, 'None'),
  'alg NONE with the signature of a good token': (one) => unsigned(one, 'NONE', parts(one)[2]),
  'alg empty': (one) => unsigned(one, ''),
  'alg missing': (one) => unsigned(one, undefined, parts(one)[2]),
  'alg as a list': (one) => unsigned(one, ['HS256', 'none']),
  'alg twice, none last': (one) =>
    `${Buffer.from(`{"alg":"ES256","typ":"${one.header.typ}","kid":"k1","alg":"none"}`).toString('base64url')}.${text(one.claims)}.`,
  'alg HS384 with the right key': async (one) =>
    new CompactSign(new TextEncoder().encode(JSON.stringify(one.claims)))
      .setProtectedHeader({ ...one.header, alg: 'HS384' } as JWTHeaderParameters)
      .sign(Buffer.concat([await bytesOf(ringOf(one)), Buffer.alloc(16)])),
  'alg RS256': asymmetric('RS256', rsa.privateKey),
  'alg PS256': asymmetric('PS256', rsa.privateKey),
  'alg ES256': asymmetric('ES256', ec.privateKey),
  'alg EdDSA': asymmetric('EdDSA', ed.privateKey),
  'alg RS256, signed as HS256': (one) => forged(one, rsaPem, { alg: 'RS256' }),
  'HS256 with a public key as its secret': (one) => forged(one, rsaPem),
  'HS256 with an empty secret': (one) => forged(one, ''),
  'HS256 with a guessed secret': (one) => forged(one, 'secret'),
  'HS256 with the key’s id as its secret': (one) => forged(one, String(one.header.kid)),
  'alg ES384': withHeader(() => ({ alg: 'ES384' })),
  ...Object.fromEntries(
    RING_NAMES.flatMap((ring) => [
      [`HS256 with the key of the ring ${ring}`, async (one: Good) => forged(one, await bytesOf(ring))],
      [
        `ES256 with the key of the ring ${ring}, if it isn’t the token’s own`,
        (one: Good) => (ring === ringOf(one) ? 'none' : signed(one, {}, {}, ring)),
      ],
    ]),
  ),
  'HS256 with the public key as its secret': async (one) => {
    const { publicKey } = (await platform.deps.keys[ringOf(one)]()).signing() ?? {}
    return forged(one, publicKey?.export({ type: 'spki', format: 'pem' }).toString() ?? '')
  },
  'the other right signature of the same text': (one) =>
    [...parts(one).slice(0, 2), mirrored(Buffer.from(parts(one)[2], 'base64url')).toString('base64url')].join('.'),
  'its own ring’s key for another purpose': async (one) => forged(one, await bytesOf(ringOf(one), 'cursor')),
  'kid current, with the ring’s value of current as the secret': (one) =>
    forged(one, new Uint8Array(hkdfSync('sha256', 'k1', '', 'platform/jwe', 32)), { kid: 'current' }),
  'no kid': withHeader(() => ({ kid: undefined })),
  'a kid that is a number': withHeader(() => ({ kid: 1 })),
  'a kid that is null': withHeader(() => ({ kid: null })),
  'a kid that is a list': withHeader(() => ({ kid: ['k1'] })),
  'a kid that is an object': withHeader(() => ({ kid: { toString: 'k1' } })),
  ...Object.fromEntries(
    KIDS.map((kid) => [`kid ${JSON.stringify(kid).slice(0, 30)}`, withHeader(() => ({ kid }))] as const),
  ),
  'typ of another kind': withHeader((one) => ({ typ: TOKENS[other(one)].typ })),
  'typ JWT': withHeader(() => ({ typ: 'JWT' })),
  'typ in capitals': withHeader((one) => ({ typ: String(one.header.typ).toUpperCase() })),
  'no typ': withHeader(() => ({ typ: undefined })),
  'typ as a list': withHeader((one) => ({ typ: [one.header.typ] })),
  'typ __proto__': withHeader(() => ({ typ: '__proto__' })),
  'aud of another kind': atOnce((one) => ({ aud: `${platform.settings.baseUrl}${TOKENS[other(one)].audience}` })),
  'aud of the whole platform': atOnce(() => ({ aud: platform.settings.baseUrl })),
  'aud of others': atOnce(() => ({ aud: ['https://other.test', 'https://platform.test.evil.test/api/v1'] })),
  'no aud': atOnce(() => ({ aud: undefined })),
  'an empty list as aud': atOnce(() => ({ aud: [] })),
  'another issuer': atOnce(() => ({ iss: 'https://other.test' })),
  'an issuer with the same prefix': atOnce(() => ({ iss: `${platform.settings.baseUrl}.evil.test` })),
  'an issuer with a slash': atOnce(() => ({ iss: `${platform.settings.baseUrl}/` })),
  'no issuer': atOnce(() => ({ iss: undefined })),
  'no exp': atOnce(() => ({ exp: undefined })),
  'exp in the past': atOnce(({ claims }) => ({ exp: Number(claims.iat) - 1 })),
  'exp now': atOnce(({ claims }) => ({ exp: claims.iat })),
  'exp as a text': atOnce(() => ({ exp: '9999999999' })),
  'exp null': atOnce(() => ({ exp: null })),
  'no iat': atOnce(() => ({ iat: undefined })),
  'nbf in the future': atOnce(({ claims }) => ({ nbf: Number(claims.iat) + 60 })),
  'nbf as a text': atOnce(() => ({ nbf: 'soon' })),
  'unknown crit': withHeader(() => ({ crit: ['x-new'], 'x-new': 1 })),
  'crit empty': withHeader(() => ({ crit: [] })),
  'b64 false': withHeader(() => ({ crit: ['b64'], b64: false })),
  'the attacker’s key in jwk': (one) =>
    forged(one, 'mine', { jwk: { kty: 'oct', k: Buffer.from('mine').toString('base64url') } }),
  'the attacker’s public key in jwk': async (one) => {
    const jwk = rsa.publicKey.export({ format: 'jwk' })
    return asymmetric('RS256', rsa.privateKey)({ ...one, header: { ...one.header, jwk } })
  },
  'keys elsewhere (jku)': (one) => forged(one, 'mine', { jku: 'http://127.0.0.1:9/jwks.json' }),
  'a certificate elsewhere (x5u)': (one) => forged(one, 'mine', { x5u: 'http://127.0.0.1:9/cert.pem' }),
  'a certificate (x5c)': (one) => forged(one, 'mine', { x5c: ['MIIB'] }),
  'encrypted instead of signed': async (one) =>
    new CompactEncrypt(new TextEncoder().encode(JSON.stringify(one.claims)))
      .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', typ: String(one.header.typ), kid: 'k1' })
      .encrypt(await bytesOf(ringOf(one), 'jwe')),
  'a good token within an encrypted one': async (one) =>
    new CompactEncrypt(new TextEncoder().encode(one.token))
      .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', typ: String(one.header.typ), cty: 'JWT', kid: 'k1' })
      .encrypt(await bytesOf(ringOf(one), 'jwe')),
  'as JSON': (one) => {
    const [header, payload, signature] = parts(one)
    return JSON.stringify({ payload, signatures: [{ protected: header, signature }] })
  },
  'claims changed under the old signature': (one) =>
    [parts(one)[0], text({ ...one.claims, sv: 2 }), parts(one)[2]].join('.'),
  'claims twice under the old signature': (one) => {
    const claims = Buffer.from(parts(one)[1], 'base64url').toString()
    const twice = `${claims.slice(0, -1)},"exp":9999999999}`
    return [parts(one)[0], Buffer.from(twice).toString('base64url'), parts(one)[2]].join('.')
  },
  'another kind’s signature': (one) => [parts(one)[0], parts(one)[1], parts(good[other(one)])[2]].join('.'),
  'another kind’s header': (one) => [parts(good[other(one)])[0], parts(one)[1], parts(one)[2]].join('.'),
  'no signature': (one) => parts(one).slice(0, 2).join('.'),
  'an empty signature': (one) => `${parts(one).slice(0, 2).join('.')}.`,
  'half a signature': (one) => one.token.slice(0, -20),
  'an extra part': (one) => `${one.token}.e30`,
  'a padded signature': (one) => `${one.token}=`,
  'the same signature with another last character': (one) => {
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    const last = alphabet.indexOf(one.token.at(-1) ?? '')
    return one.token.slice(0, -1) + alphabet[last + 1]
  },
  'claims that aren’t JSON': (one) => [parts(one)[0], 'bm90IGpzb24', parts(one)[2]].join('.'),
  'claims that are a list': async (one) => {
    return withSignature([text(one.header), text([one.claims])].join('.'), await privateKeyOf(ringOf(one)))
  },
  'a header that is null': (one) => ['bnVsbA', parts(one)[1], parts(one)[2]].join('.'),
  'a header that is a number': (one) => ['NDI', parts(one)[1], parts(one)[2]].join('.'),
  'a header of a megabyte': (one) => [text({ ...one.header, x: 'x'.repeat(1_000_000) }), parts(one)[1], ''].join('.'),
  'of another stage with the same keys': async (one) => {
    const settings = { ...platform.settings, baseUrl: 'https://staging.test' }
    return (await issueToken({ ...platform.deps, settings }, one.kind, one.claims as never)).token
  },
  ...Object.fromEntries(
    [0, 1, 2].flatMap((part) =>
      [0, 7, 15, 31].map((at) => [
        `a bit of byte ${at} flipped in part ${part}`,
        (one: Good) =>
          parts(one)
            .map((it, i) => (i === part ? flipped(it, at) : it))
            .join('.'),
      ]),
    ),
  ),
}

const open = (kind: Kind, headers: Record<string, string>, query = '') =>
  platform.call('GET', `${OPENS[kind]}${query}`, { headers })

describe(`${Object.keys(FORGERIES).length} forgeries of ${KINDS.length} kinds of token, ${Object.keys(FORGERIES).length * KINDS.length} in all`, () => {
  it.each(KINDS)('of %s: the platform accepts its own token and refuses every forgery', async (kind) => {
    for (const token of [good[kind].token, await signed(good[kind])]) {
      expect((await open(kind, bearer(token))).status, 'signed as the platform does').toBe(200)
    }
    for (const [how, forge] of Object.entries(FORGERIES)) {
      platform.clock.advance(1)
      const answer = await open(kind, bearer(await forge(good[kind])))
      expectRefusal(answer, how, 'unauthorized')
    }
  })

  it('a valid token of one kind opens no endpoint of another', async () => {
    for (const kind of KINDS) {
      for (const elsewhere of KINDS.filter(
        (one) => TOKENS[one].audience.split('#')[0] !== TOKENS[kind].audience.split('#')[0],
      )) {
        platform.clock.advance(500)
        const codes = kind === 'surface' ? ['insufficient_scope'] : ['unauthorized']
        expectRefusal(await open(elsewhere, bearer(good[kind].token)), `${kind} at ${elsewhere}`, ...codes)
      }
    }
  })
})

describe('a surface token that has expired, or that somebody else signed', () => {
  it('is an unknown credential everywhere, as it is at its own endpoints', async () => {
    const valid = good.surface
    const lapsed = await signed({ ...valid, claims: { ...valid.claims, exp: Number(valid.claims.iat) - 1 } })
    const foreign = await asymmetric('ES256', ec.privateKey)(valid)
    for (const path of ['/console/me', '/admin/me', '/api/v1/dev/me', '/oauth/consent/request?tg=x']) {
      for (const token of [lapsed, foreign]) {
        platform.clock.advance(1_000)
        expectRefusal(await platform.call('GET', path, { token }), path, 'unauthorized')
      }
      expectRefusal(await platform.call('GET', path, { token: valid.token }), path, 'insufficient_scope')
    }
  })
})

describe('a valid token in the wrong place', () => {
  const PLACES: Record<string, (token: string) => Record<string, string>> = {
    'a cookie': (token) => ({ cookie: `token=${token}; access_token=${token}; Authorization=Bearer ${token}` }),
    'X-Authorization': (token) => ({ 'x-authorization': `Bearer ${token}` }),
    'Proxy-Authorization': (token) => ({ 'proxy-authorization': `Bearer ${token}` }),
    'X-Access-Token': (token) => ({ 'x-access-token': token }),
    'X-Forwarded-Authorization': (token) => ({ 'x-forwarded-authorization': `Bearer ${token}` }),
    'a developer key': (token) => ({ 'x-developer-key': token }),
    'two Authorization headers, the good one first': (token) => ({ authorization: `Bearer ${token}, Bearer x` }),
    'two Authorization headers, the good one last': (token) => ({ authorization: `Bearer x, Bearer ${token}` }),
    'the same twice': (token) => ({ authorization: `Bearer ${token}, Bearer ${token}` }),
    'no scheme': (token) => ({ authorization: token }),
    'the scheme Token': (token) => ({ authorization: `Token ${token}` }),
    'the scheme Basic': (token) => ({ authorization: `Basic ${Buffer.from(`token:${token}`).toString('base64')}` }),
    'a tab after the scheme': (token) => ({ authorization: `Bearer\t${token}` }),
    'no blank after the scheme': (token) => ({ authorization: `Bearer${token}` }),
    'quotes around it': (token) => ({ authorization: `Bearer "${token}"` }),
    'a blank within it': (token) => ({ authorization: `Bearer ${token.slice(0, 20)} ${token.slice(20)}` }),
    'a parameter': (token) => ({ authorization: `Bearer token=${token}` }),
    'a line break before it': (token) => ({ authorization: `\r\nBearer ${token}` }),
  }
  const QUERIES = ['access_token', 'token', 'authorization', 'bearer_token']

  it.each(KINDS)(
    `of %s opens nothing: ${Object.keys(PLACES).length} headers, ${QUERIES.length} parameters`,
    async (kind) => {
      const { token } = good[kind]
      for (const [place, headers] of Object.entries(PLACES)) {
        platform.clock.advance(1)
        expectRefusal(await open(kind, headers(token)), place, 'unauthorized')
      }
      for (const name of QUERIES) {
        expectRefusal(await open(kind, {}, `?${name}=${token}`), name, 'unauthorized')
      }
    },
  )

  it('the case of the scheme doesn’t matter (RFC 9110 §11.1)', async () => {
    for (const scheme of ['bearer', 'BEARER', 'BeArEr']) {
      platform.clock.advance(1_000)
      expect((await open('access', { authorization: `${scheme} ${good.access.token}` })).status).toBe(200)
    }
  })
})
