import { describe, expect, it } from 'vitest'
import type { Endpoint } from '#shared/http/endpoint.ts'
import { contents, difference } from '#testkit/contents.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { pathWithUnknownIds } from '#testkit/world.ts'
import { PRINCIPALS, refusalOf } from './principals.ts'
import { batchesOf, endpoints, expectRefusal, nameOf } from './support.ts'

const platform = usingPlatform()

/** For each kind of caller, one endpoint that reads and one that writes. */
const samples = ['integration', 'developer', 'console', 'admin', 'client'].flatMap((caller) =>
  [true, false].flatMap(
    (reads) => endpoints.find((endpoint) => endpoint.caller === caller && (endpoint.method === 'GET') === reads) ?? [],
  ),
)

const matrix = Object.entries(PRINCIPALS).map(([who, principal]) => {
  const { of, likeAnother } = principal
  // Refused for the kind of credential, before the platform checks whether it is still valid.
  const asked = likeAnother
    ? endpoints.filter((endpoint) => endpoint.caller === of || samples.includes(endpoint))
    : endpoints
  const shut = asked.flatMap((endpoint) => {
    const code = refusalOf(principal, endpoint)
    return code === undefined ? [] : [[endpoint, code] as const]
  })
  return { who, principal, shut, count: shut.length }
})
const attack = async (endpoint: Endpoint, headers: Record<string, string>, code: string): Promise<void> => {
  const form = endpoint.consumes === 'form' && { 'content-type': 'application/x-www-form-urlencoded' }
  const body = endpoint.method === 'GET' ? undefined : endpoint.consumes === 'form' ? '' : {}
  const path = pathWithUnknownIds(endpoint)
  const answer = await platform.call(endpoint.method, path, { headers: { ...headers, ...form }, body })
  expectRefusal(answer, nameOf(endpoint), code)
  const scheme = endpoint.standard ? /^Basic / : /^Bearer /
  if (answer.status === 401) expect(answer.headers['www-authenticate'], nameOf(endpoint)).toMatch(scheme)
}

const total = matrix.reduce((sum, { count }) => sum + count, 0)

describe(`${total} combinations of an endpoint with a principal that may not call it`, () => {
  it.each(matrix)(
    '$who: refused at $count endpoints with the right code, and nothing changes',
    async ({ principal, shut }) => {
      const headers = await principal.make(platform)
      const before = await contents(platform)
      for (const some of batchesOf(10, shut)) {
        // Refills the rate limits; no credential lives less than 5 minutes.
        platform.clock.advance(2_500)
        await Promise.all(some.map(([endpoint, code]) => attack(endpoint, headers, code)))
      }
      expect(difference(before, await contents(platform))).toEqual({})
    },
  )

  it('include every endpoint that requires a caller, more than a dozen times each', () => {
    const asked = matrix.flatMap(({ shut }) => shut.map(([endpoint]) => endpoint))
    for (const endpoint of endpoints.filter(({ caller }) => caller !== 'none')) {
      expect(asked.filter((each) => each === endpoint).length, nameOf(endpoint)).toBeGreaterThan(12)
    }
  })
})
