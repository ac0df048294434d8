import { describe, expect, it } from 'vitest'
import type { Endpoint } from '#shared/http/endpoint.ts'
import { contents, difference } from '#test/contract/contents.ts'
import { pathWithUnknownIds } from '#test/contract/world.ts'
import { usingPlatform } from '#test/support/using-platform.ts'
import { PRINCIPALS, refusalOf } from './principals.ts'
import { batchesOf, endpoints, expectRefusal, nameOf } from './support.ts'

const platform = usingPlatform()

/** Of each kind of caller one endpoint that reads and one that writes. */
const one = ['integration', 'developer', 'console', 'admin', 'client'].flatMap((caller) =>
  [true, false].flatMap(
    (reads) => endpoints.find((it) => it.caller === caller && (it.method === 'GET') === reads) ?? [],
  ),
)

const matrix = Object.entries(PRINCIPALS).map(([who, principal]) => {
  const { of, likeAnother } = principal
  // What kind of credential it is decides elsewhere, before anybody looks whether it still stands.
  const asked = likeAnother ? endpoints.filter((it) => it.caller === of || one.includes(it)) : endpoints
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
  if (answer.status === 401) expect(answer.headers['www-authenticate'], nameOf(endpoint)).toMatch(/^Bearer /)
}

const total = matrix.reduce((sum, { count }) => sum + count, 0)

describe(`${total} combinations of an endpoint with somebody it is not for`, () => {
  it.each(matrix)(
    '$who: refused at $count endpoints with the right code, and nothing changes',
    async ({ principal, shut }) => {
      const headers = await principal.make(platform)
      const before = await contents(platform)
      for (const some of batchesOf(10, shut)) {
        // Rate limits fill up; no credential lives less than 5 minutes.
        platform.clock.advance(2_500)
        await Promise.all(some.map(([endpoint, code]) => attack(endpoint, headers, code)))
      }
      expect(difference(before, await contents(platform))).toEqual({})
    },
  )

  it('include every endpoint that has a caller, a dozen times at least', () => {
    const asked = matrix.flatMap(({ shut }) => shut.map(([endpoint]) => endpoint))
    for (const endpoint of endpoints.filter(({ caller }) => caller !== 'none')) {
      expect(asked.filter((it) => it === endpoint).length, nameOf(endpoint)).toBeGreaterThan(12)
    }
  })
})
