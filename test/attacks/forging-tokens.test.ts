import { decodeProtectedHeader } from 'jose'
import { describe, expect, it } from 'vitest'
import { requestFunctions, workerFunctions } from '#functions/registry.ts'
import { planFunctions } from '#infra/plan.ts'
import { SIGNING_RINGS, type SigningRing } from '#shared/kernel/ports/keys.ts'
import { installed } from '#testkit/fixtures.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()

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
