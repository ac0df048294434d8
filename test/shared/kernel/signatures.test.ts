import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import Stripe from 'stripe'
import { describe, expect, test } from 'vitest'
import { newSigningSecret, signStandard, signSvc, verifySvc } from '#shared/kernel/signatures.ts'

interface Vector {
  name: string
  secrets: string[]
  timestamp: number
  id: string
  body: string
  svc_signature: string
  webhook_signature: string
}

interface Refused {
  name: string
  secret: string
  now: number
  body: string
  svc_signature: string
}

const { vectors, refused }: { vectors: Vector[]; refused: Refused[] } = JSON.parse(
  readFileSync(new URL('../../../examples/sdk/vectors.json', import.meta.url), 'utf8'),
)

const stripe = new Stripe('sk_test_unused')
const now = () => Math.floor(Date.now() / 1_000)
const BODY = '{"id":"evt_1","object":"event","type":"run.succeeded","data":{"text":"grüße ✓"}}'

describe('X-SVC-Signature', () => {
  test('is the HMAC-SHA256 in hex of "<t>.<raw body>" under the whole secret', () => {
    const secret = 'whsec_c2VjcmV0'
    const hex = createHmac('sha256', secret).update(`1700000000.${BODY}`).digest('hex')
    expect(signSvc([secret], 1_700_000_000, BODY)).toBe(`t=1700000000,v1=${hex}`)
  })

  test('signs bytes unchanged, also invalid UTF-8', () => {
    const bytes = new Uint8Array([0xff, 0x00, 0xfe])
    const hex = createHmac('sha256', 's').update('5.').update(bytes).digest('hex')
    expect(signSvc(['s'], 5, bytes)).toBe(`t=5,v1=${hex}`)
    expect(signSvc(['s'], 5, BODY)).toBe(signSvc(['s'], 5, Buffer.from(BODY)))
  })

  test('carries one v1 per secret during a rotation, the current one first', () => {
    const [current, old] = [newSigningSecret('whsec_'), newSigningSecret('whsec_')]
    const [, first, second] = signSvc([current, old], 1, 'x').split(',')
    expect(signSvc([current], 1, 'x')).toBe(`t=1,${first}`)
    expect(signSvc([old], 1, 'x')).toBe(`t=1,${second}`)
  })

  test('stripe verifies it with the secret unchanged, new and old alike', () => {
    const [current, old, other] = ['whsec_', 'whsec_', 'agsec_'].map((prefix) => newSigningSecret(prefix as 'whsec_'))
    const header = signSvc([current, old] as string[], now(), BODY)
    for (const secret of [current, old] as string[]) {
      expect(stripe.webhooks.constructEvent(BODY, header, secret)).toMatchObject({ id: 'evt_1', type: 'run.succeeded' })
      expect(stripe.webhooks.signature?.verifyHeader(Buffer.from(BODY), header, secret, 300)).toBe(true)
    }
    expect(() => stripe.webhooks.constructEvent(BODY, header, other ?? '')).toThrow()
    expect(() => stripe.webhooks.constructEvent(`${BODY} `, header, current ?? '')).toThrow()
  })

  test('the reference verifier accepts what stripe signs', () => {
    const secret = newSigningSecret('whsec_')
    const header = stripe.webhooks.generateTestHeaderString({ payload: BODY, secret })
    expect(verifySvc(secret, header, BODY, now())).toBe(true)
  })
})

describe('verifySvc', () => {
  const secret = 'agsec_c2VjcmV0'
  const header = signSvc([secret], 1_000, BODY)
  const hex = header.slice('t=1000,v1='.length)

  test.each([0, 1, 299, 300, -300])('accepts a clock %d seconds apart', (apart) =>
    expect(verifySvc(secret, header, BODY, 1_000 + apart)).toBe(true),
  )
  test.each([301, -301, 100_000])('refuses a clock %d seconds apart', (apart) =>
    expect(verifySvc(secret, header, BODY, 1_000 + apart)).toBe(false),
  )
  test('accepts another tolerance', () => {
    expect(verifySvc(secret, header, BODY, 1_011, 10)).toBe(false)
    expect(verifySvc(secret, header, BODY, 1_400, 400)).toBe(true)
  })
  test('accepts any one of several v1', () => {
    expect(verifySvc(secret, `t=1000,v1=${'0'.repeat(64)},v1=${hex}`, BODY, 1_000)).toBe(true)
    expect(verifySvc(secret, `t=1000, v0=zz, v1=${hex}`, BODY, 1_000)).toBe(true)
  })
  test.each([
    '',
    't=1000',
    `v1=${hex}`,
    `t=1000,v1=${hex.slice(0, -2)}`,
    `t=1000,v1=${hex}00`,
    `t=1000,v1=${hex.slice(0, -1)}g`,
    `t=1001,v1=${hex}`,
    `t=01000,v1=${hex}`,
    `t=1e3,v1=${hex}`,
    `t=,v1=${hex}`,
    `t=NaN,v1=${hex}`,
    `t=-1000,v1=${hex}`,
    `t=1000,t=1000,v1=${hex}`,
    `t=1000,v0=${hex}`,
    `t=1000;v1=${hex}`,
  ])('refuses the header %j', (text) => expect(verifySvc(secret, text, BODY, 1_000)).toBe(false))

  test('verifies nothing with a clock that isn’t a number', () =>
    expect(verifySvc(secret, header, BODY, Number.NaN)).toBe(false))

  test('accepts what was signed and nothing that differs', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.uint8Array(), fc.nat(), fc.nat(), (key, body, time, position) => {
        const signed = signSvc([key], time, body)
        expect(verifySvc(key, signed, body, time)).toBe(true)
        expect(verifySvc(`${key}x`, signed, body, time)).toBe(false)
        const changed = Uint8Array.from(body.length === 0 ? [0] : body)
        const index = position % changed.length
        changed[index] = (changed[index] ?? 0) ^ (body.length === 0 ? 0 : 1)
        expect(verifySvc(key, signed, changed, time)).toBe(false)
      }),
    )
  })
})

describe('Standard Webhooks', () => {
  test('standardwebhooks verifies it with the secret unchanged, new and old alike', () => {
    const [current, old, other] = Array.from({ length: 3 }, () => newSigningSecret('whsec_')) as [
      string,
      string,
      string,
    ]
    const headers = { ...signStandard([current, old], 'evt_01', now(), BODY) }
    expect(new Webhook(current).verify(BODY, headers)).toMatchObject({ id: 'evt_1' })
    expect(new Webhook(old).verify(Buffer.from(BODY), headers)).toMatchObject({ id: 'evt_1' })
    expect(() => new Webhook(other).verify(BODY, headers)).toThrow()
    expect(() => new Webhook(current).verify(`${BODY} `, headers)).toThrow()
    expect(() => new Webhook(current).verify(BODY, { ...headers, 'webhook-id': 'evt_02' })).toThrow()
  })

  test('is byte for byte what standardwebhooks signs', () => {
    fc.assert(
      fc.property(fc.string(), fc.uint8Array({ minLength: 32, maxLength: 32 }), (body, key) => {
        const secret = `whsec_${Buffer.from(key).toString('base64')}`
        const at = new Date(1_700_000_000_000)
        const ours = signStandard([secret], 'evt_01', 1_700_000_000, body)
        expect(ours['webhook-signature']).toBe(new Webhook(secret).sign('evt_01', at, body))
      }),
    )
  })

  test('a secret of an app is decoded after its own prefix', () => {
    const bytes = Buffer.from('c2VjcmV0', 'base64')
    const digest = createHmac('sha256', bytes).update('a.1.x').digest('base64')
    expect(signStandard(['agsec_c2VjcmV0'], 'a', 1, 'x')['webhook-signature']).toBe(`v1,${digest}`)
  })
})

describe('newSigningSecret', () => {
  test.each(['whsec_', 'agsec_'] as const)('%s is followed by standard base64 of 32 bytes', (prefix) => {
    const secret = newSigningSecret(prefix)
    expect(secret).toMatch(new RegExp(`^${prefix}[A-Za-z0-9+/]{43}=$`))
    expect(Buffer.from(secret.slice(prefix.length), 'base64')).toHaveLength(32)
    expect(newSigningSecret(prefix)).not.toBe(secret)
  })
})

describe('the published test vectors', () => {
  test('exist', () => {
    expect(vectors.length).toBeGreaterThanOrEqual(5)
    expect(refused.length).toBeGreaterThanOrEqual(5)
  })

  test.each(refused)('$name is refused', ({ secret, svc_signature, body, now }) => {
    expect(verifySvc(secret, svc_signature, body, now)).toBe(false)
  })

  test.each(vectors)('$name', (vector) => {
    expect(signSvc(vector.secrets, vector.timestamp, vector.body)).toBe(vector.svc_signature)
    expect(signStandard(vector.secrets, vector.id, vector.timestamp, vector.body)).toEqual({
      'webhook-id': vector.id,
      'webhook-timestamp': String(vector.timestamp),
      'webhook-signature': vector.webhook_signature,
    })
    for (const secret of vector.secrets) {
      expect(verifySvc(secret, vector.svc_signature, vector.body, vector.timestamp)).toBe(true)
    }
  })
})
