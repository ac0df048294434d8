import { describe, expect, it } from 'vitest'
import { createKeys, KEYS_FRESH } from '#shared/adapters/secrets.ts'
import { TestClock } from '#testkit/clock.ts'

const key = (of: string) => of.repeat(64)

/** A bucket and a secret, and the keys as one function sees them that may read that secret, or only the bucket. */
const stage = () => {
  const stored = new Map<string, Uint8Array>()
  const calls = { get: 0, put: 0 }
  let secret = { current: 'k1', k1: key('x') } as Record<string, string>
  const objects = {
    async get(name: string) {
      calls.get++
      return stored.get(name)
    },
    async put(name: string, bytes: Uint8Array) {
      calls.put++
      stored.set(name, bytes)
    },
    create: () => Promise.reject(new Error('public keys are replaced')),
  }
  const clock = new TestClock()
  return {
    clock,
    calls,
    stored,
    setSecret: (value: typeof secret) => {
      secret = value
    },
    issuer: () => createKeys({ access: 'arn' }, clock, objects, { readText: async () => JSON.stringify(secret) }),
    verifier: () => createKeys({}, clock, objects).publicKeys,
  }
}

const same = async (
  ...[issuer, verifier]: [
    ReturnType<ReturnType<typeof stage>['issuer']>,
    ReturnType<ReturnType<typeof stage>['verifier']>,
  ]
) => {
  const ring = await issuer.access()
  const found = await verifier.find('access', ring.currentId)
  return (
    found?.export({ format: 'pem', type: 'spki' }) === ring.signing()?.publicKey.export({ format: 'pem', type: 'spki' })
  )
}

describe('public keys', () => {
  it('are published when a function reads the ring, once, and contain nothing private', async () => {
    const { issuer, verifier, calls, stored } = stage()
    expect(await verifier().find('access', 'k1')).toBeUndefined()
    await Promise.all([issuer().access(), issuer().access()])
    expect(await same(issuer(), verifier())).toBe(true)
    expect(calls.put).toBeLessThanOrEqual(2)
    const set = JSON.parse(Buffer.from(stored.get('public-keys/access') ?? []).toString())
    expect(set.keys.map((one: object) => Object.keys(one).sort())).toEqual([['crv', 'kid', 'kty', 'x', 'y']])
  })

  it('include a key before it signs, and lose a retired one within two readings', async () => {
    const { issuer, verifier, setSecret, clock } = stage()
    const [issues, verifies] = [issuer(), verifier()]
    expect(await same(issues, verifies)).toBe(true)
    setSecret({ current: 'k1', k1: key('x'), k2: key('y') })
    clock.advance(KEYS_FRESH)
    await issues.access()
    expect(await verifies.find('access', 'k2')).toBeDefined()
    setSecret({ current: 'k2', k2: key('y') })
    clock.advance(KEYS_FRESH)
    expect(await same(issues, verifies)).toBe(true)
    clock.advance(KEYS_FRESH)
    expect(await verifies.find('access', 'k1')).toBeUndefined()
  })

  it('are read once in five minutes, and for made-up ids no more than twice a minute', async () => {
    const { issuer, verifier, calls, clock } = stage()
    await issuer().access()
    const verifies = verifier()
    calls.get = 0
    for (let asked = 0; asked < 1_000; asked++) {
      expect(await verifies.find('access', `made-up-${asked}`)).toBeUndefined()
      expect(await verifies.find('access', 'k1')).toBeDefined()
      clock.advance(60)
    }
    expect(calls.get).toBeLessThanOrEqual(3)
  })
})
