import { existsSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { requestFunctions } from '#functions/registry.ts'
import { buildOpenApi } from '#openapi/build.ts'
import type { Endpoint } from '#shared/http/endpoint.ts'
import { type Answer, startPlatform, type TestPlatform } from '#testkit/platform.ts'
import { sampleCall } from '#testkit/sample-call.ts'
import { createStage, type Stage } from '#testkit/stage.ts'

const endpoints = Object.values(requestFunctions).flat()
const gets = endpoints
  .filter(({ method }) => method === 'GET')
  .map((endpoint) => [`${endpoint.method} ${endpoint.path}`, endpoint] as const)

let platform: TestPlatform
let stage: Stage
beforeAll(async () => {
  // Some endpoints serve built files, which a fresh clone doesn't have.
  if (!existsSync('dist/docs-assets')) await buildOpenApi()
  platform = await startPlatform()
  stage = await createStage(platform)
})
afterAll(async () => {
  await stage.close()
  await platform.stop()
})

/** Writes that aren't results of a request: rate limits, when a key was used, and the public half of a key that signs. */
const UNCOUNTED = new Set(['bucket', 'developer-key', 'signing-key'])

/** Returns the entities that a request writes. */
const writesOf = async (request: () => Promise<Answer>): Promise<{ answer: Answer; written: string[] }> => {
  const { table } = platform.deps
  const transact = vi.spyOn(table, 'transact')
  const change = vi.spyOn(table, 'change')
  try {
    const answer = await request()
    const writes = [...transact.mock.calls.flatMap(([made]) => made), ...change.mock.calls.map(([made]) => made)]
    return { answer, written: writes.map(({ entity }) => entity.name).filter((name) => !UNCOUNTED.has(name)) }
  } finally {
    transact.mockRestore()
    change.mockRestore()
  }
}

/** Headers whose values differ from one request to the next. */
const OWN = /^(x-request-id|x-ratelimit-remaining|etag|location)$/

const headersOf = ({ headers }: Answer): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, OWN.test(name) ? 'any' : value]))

const withHead = (endpoint: Endpoint): Endpoint => ({ ...endpoint, method: 'HEAD' as 'GET' })

describe('HEAD', () => {
  it.each(gets)(
    'instead of %s has its status and headers without a body, and changes nothing',
    async (_name, endpoint) => {
      const sample = await sampleCall(stage, endpoint)
      const requests = stage.hooks.requests.length
      const { answer: head, written } = await writesOf(() => stage.call(withHead(endpoint), sample))
      expect(written).toEqual([])
      expect([head.text, head.body]).toEqual(['', undefined])
      expect(platform.streamed).toEqual([])
      expect(stage.hooks.requests.length).toBe(requests)
      const get = await stage.call(endpoint, sample)
      expect(get.status, get.text.slice(0, 400)).toBe(endpoint.status)
      expect([head.status, headersOf(head)]).toEqual([get.status, headersOf(get)])
      platform.streamed.length = 0
    },
  )

  it('is refused where GET isn’t known, and Allow names it elsewhere', async () => {
    for (const path of ['/mcp', '/oauth/token', '/api/v1/dev/register']) {
      const [head, get] = [await platform.call('HEAD', path), await platform.call('GET', path)]
      expect([head.status, head.text, head.headers.allow]).toEqual([405, '', get.headers.allow])
      expect(head.headers.allow).not.toContain('HEAD')
    }
    expect((await platform.call('PUT', '/api/v1/me')).headers.allow).toBe('GET, HEAD')
  })
})
