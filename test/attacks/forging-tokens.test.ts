import { createHmac } from 'node:crypto'
import { decodeProtectedHeader } from 'jose'
import { afterEach, describe, expect, it } from 'vitest'
import { requestFunctions, workerFunctions } from '#functions/registry.ts'
import { planFunctions } from '#infra/plan.ts'
import { TOKENS } from '#shared/foundation/tokens/tokens.ts'
import { SIGNING_RINGS, type SigningRing } from '#shared/kernel/ports/keys.ts'
import { installed } from '#testkit/fixtures.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const HOUR = 3_600_000
const platform = usingPlatform()
const publicKeys = () => platform.deps.keys.publicKeys

/** Returns the functions that may read a ring. */
const readersOf = (ring: SigningRing): string[] =>
  planFunctions({ requestFunctions, workerFunctions }).flatMap(({ name, capabilities }) =>
    capabilities.includes(`keys:${ring}`) ? [name] : [],
  )

describe('a key that signs tokens', () => {
  it('is readable only by functions that issue such tokens', () => {
    expect(Object.fromEntries(SIGNING_RINGS.map((ring) => [ring, readersOf(ring)]))).toEqual({
      access: ['developer', 'oauth'],
      callback: ['api', 'api-calls', 'dispatch'],
      console: ['console', 'developer', 'messengers'],
      staff: ['admin'],
    })
  })

  it('signs with ES256, so that nobody can sign who only verifies', async () => {
    const { token } = await installed(platform.deps)
    expect(decodeProtectedHeader(token)).toEqual({ alg: 'ES256', typ: 'at+jwt', kid: 'k1' })
  })
})

describe('a token of an earlier version (HS256)', () => {
  const me = async (token: string) => (await platform.call('GET', '/api/v1/me', { token })).status
  const earlier = async () => {
    platform.deps.settings.previousKeyFormats = true
    const app = await installed(platform.deps)
    platform.deps.settings.previousKeyFormats = false
    expect(decodeProtectedHeader(app.token).alg).toBe('HS256')
    return app.token
  }
  const takenOver = async () => 0
  const tookOverAt = (since: number | undefined) => {
    publicKeys().since = async () => since
  }
  afterEach(() => {
    publicKeys().since = takenOver
  })

  it('stays valid until it expires, whatever happens to the ring after it', async () => {
    tookOverAt(undefined)
    const token = await earlier()
    expect(await me(token)).toBe(200)
    tookOverAt(platform.clock.now())
    platform.clock.advance(TOKENS.access.life - 1_000)
    expect(await me(token)).toBe(200)
    platform.clock.advance(1_000)
    expect(await me(token)).toBe(401)
  })

  it('that was issued after the new keys had taken over is refused, though its signature is right', async () => {
    tookOverAt(platform.clock.now() - HOUR - 1_000)
    expect(await me(await earlier())).toBe(401)
  })

  it('that claims an early issue and a long life is refused', async () => {
    tookOverAt(platform.clock.now() - 24 * HOUR)
    const token = await earlier()
    const [header = '', payload = ''] = token.split('.')
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString())

    const forged = Buffer.from(JSON.stringify({ ...claims, iat: claims.iat - 48 * 3_600 })).toString('base64url')
    const key = (await platform.deps.keys.tokens()).bytes('jwt') ?? expect.fail()
    const signature = createHmac('sha256', key).update(`${header}.${forged}`).digest('base64url')
    expect(await me(`${header}.${forged}.${signature}`)).toBe(401)
  })
})
