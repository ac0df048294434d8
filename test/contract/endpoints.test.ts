import { existsSync } from 'node:fs'
import { beforeAll, describe, expect, it } from 'vitest'
import { requestFunctions } from '#functions/registry.ts'
import { buildOpenApi } from '#openapi/build.ts'
import { ERRORS } from '#shared/kernel/errors.ts'
import { readText } from '#test/record/recordings.ts'
import { exampleBody } from '#testkit/derived-sample.ts'
import { installed } from '#testkit/fixtures.ts'
import type { Answer } from '#testkit/platform.ts'
import { platformErrorOf } from '#testkit/platform-error.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { usingWorld } from '#testkit/using-stage.ts'
import { pathWithUnknownIds, WRONG_BODIES } from '#testkit/world.ts'
import { SURFACE, surface } from './surface.ts'

const endpoints = Object.values(requestFunctions).flat()
/** Paths of the endpoints to call (`npm run check`), instead of all. */
const ONLY = process.env.ENDPOINTS?.split(' ').filter(Boolean) ?? []
const called = endpoints.filter(({ path }) => ONLY.length === 0 || ONLY.includes(path))
const named = called.map((endpoint) => [`${endpoint.method} ${endpoint.path}`, endpoint] as const)

// Some endpoints serve built files, which a fresh clone doesn't have.
beforeAll(async () => {
  if (!existsSync('dist/docs-assets')) await buildOpenApi()
})

const platform = usingPlatform()
const world = usingWorld(platform)

const call = (method: string, path: string, headers: Record<string, string>, body?: unknown): Promise<Answer> => {
  platform.clock.advance(1_000)
  return platform.call(method, path, { headers, body })
}

/** The complete error body (contract/errors.md#error-body). */
const expectError = (answer: Answer, ...codes: string[]): void => {
  const error = platformErrorOf(answer)
  expect(error, answer.text.slice(0, 300)).toBeTruthy()
  expect(codes, `${answer.status} ${error.code}: ${error.message}`).toContain(error.code)
  expect(Object.keys(error).sort()).toEqual(['code', 'details', 'docs_url', 'fix', 'message', 'request_id'])
  expect(error.request_id).toMatch(/^req_[0-9a-z]{26}$/)
  expect(answer.headers['x-request-id']).toBe(error.request_id)
  expect(error.docs_url).toBe(`https://platform.test/docs#${error.code}`)
  expect(error.message.length).toBeGreaterThan(5)
  expect(error.fix.length).toBeGreaterThan(5)
  expect(answer.status).toBe(ERRORS[error.code as keyof typeof ERRORS][0])
}

describe('the public surface', () => {
  it('is the recorded one; `npm run record -- surface` records an intended change', () => {
    expect(surface()).toBe(readText(SURFACE))
  })

  it('operation ids and routes are unique', () => {
    for (const names of [endpoints.map(({ id }) => id), named.map(([name]) => name)]) {
      expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([])
    }
  })
})

describe('without a credential', () => {
  const guarded = named.filter(([, { caller }]) => caller !== 'none')
  it.each(guarded)('%s is refused', async (_name, endpoint) => {
    const answer = await call(endpoint.method, pathWithUnknownIds(endpoint), formHeaders(endpoint), emptyBody(endpoint))
    if (endpoint.standard) {
      expect([answer.status, answer.body.error]).toEqual([401, 'invalid_client'])
      expect(Object.keys(answer.body)).toEqual(['error', 'error_description'])
      expect(answer.headers['www-authenticate']).toMatch(/^Basic realm="/)
      return
    }
    expectError(answer, 'unauthorized', 'invalid_client')
    expect(answer.headers['www-authenticate']).toMatch(/^Bearer /)
  })
})

describe('with a scope missing', () => {
  const scoped = named.filter(([, { scope }]) => scope)
  it.each(scoped)('%s names it', async (_name, endpoint) => {
    const held = endpoint.scope === 'members:read' ? 'agents:read' : 'members:read'
    const poor = await installed(platform.deps, { scopes: [held] })
    const answer = await call(
      endpoint.method,
      pathWithUnknownIds(endpoint),
      { authorization: `Bearer ${poor.token}` },
      emptyBody(endpoint),
    )
    expectError(answer, 'insufficient_scope')
    // A2A has texts as metadata.
    const granted_scopes = endpoint.speaks ? held : [held]
    expect(platformErrorOf(answer)?.details).toEqual({ required_scope: endpoint.scope, granted_scopes })
  })
})

describe('with an unknown or malformed id', () => {
  const byId = named.filter(
    ([, { params, caller }]) => Object.values(params).some((kind) => kind !== 'text') && caller !== 'none',
  )
  it.each(byId)('%s is not_found', async (_name, endpoint) => {
    const headers = world.credentials[endpoint.caller] ?? {}
    const sample = exampleBody(endpoint)
    expectError(await call(endpoint.method, pathWithUnknownIds(endpoint), headers, sample), 'not_found')
    const misshapen = endpoint.path.replaceAll(/\{\w+\}/g, '..%2f..%2fetc')
    expectError(await call(endpoint.method, misshapen, headers, sample), 'not_found')
  })
})

describe('with an invalid body', () => {
  // Errors by RFC 6749 have other fields.
  const bodied = named.filter(
    ([, { method, consumes, standard }]) =>
      method !== 'GET' && consumes !== 'form' && consumes !== 'ignored' && !standard,
  )
  it.each(bodied)('%s says what is wrong and never fails', async (_name, endpoint) => {
    const headers = world.credentials[endpoint.caller] ?? {}
    const path = pathWithUnknownIds(endpoint)
    for (const [what, body] of WRONG_BODIES) {
      // It answers 200 to any JSON, because saying what is wrong is its purpose
      // (contract/apps-and-manifests.md#manifests).
      if (endpoint.id === 'developer.manifest.validate') continue
      const answer = await call(endpoint.method, path, headers, body)
      expect(answer.status, what).toBeGreaterThanOrEqual(400)
      expect(answer.status, `${what}: ${answer.text.slice(0, 200)}`).toBeLessThan(500)
    }
    expectError(await call(endpoint.method, path, headers, '{"a":'), 'bad_request')
    expectError(
      await call(endpoint.method, path, { ...headers, 'content-type': 'text/plain' }, 'a=b'),
      'unsupported_media_type',
    )
    const size = endpoint.maxBodyBytes + 10
    expectError(await call(endpoint.method, path, headers, `{"a":"${'x'.repeat(size)}"}`), 'payload_too_large')
  })
})

describe('with an unknown query parameter', () => {
  const strict = named.filter(
    ([, { method, lenient, group }]) => method === 'GET' && !lenient && !['docs', 'oauth', 'connect'].includes(group),
  )
  it.each(strict)('%s names it', async (_name, endpoint) => {
    const headers = world.credentials[endpoint.caller] ?? {}
    const answer = await call('GET', `${pathWithUnknownIds(endpoint)}?surely_not=1`, headers)
    expectError(answer, 'validation_error')
    expect(answer.body.error.details.fields).toHaveProperty('surely_not')
  })
})

describe('a list', () => {
  const lists = named.filter(([, { list }]) => list === 'page')
  it.each(lists)('%s has the envelope, and refuses invalid limits and cursors', async (_name, endpoint) => {
    const headers = world.credentials[endpoint.caller] ?? {}
    if (Object.keys(endpoint.params).length > 0) return
    const answer = await call('GET', endpoint.path, headers)
    expect(answer.status, answer.text.slice(0, 200)).toBe(200)
    expect(answer.body).toMatchObject({ items: expect.any(Array), has_more: expect.any(Boolean) })
    expect(answer.body).toHaveProperty('next_cursor')
    if (!endpoint.query) return
    for (const limit of ['0', '101', '-1', '1.5', '1e1', '%205', 'x', '']) {
      expectError(await call('GET', `${endpoint.path}?limit=${limit}`, headers), 'validation_error')
    }
    expectError(await call('GET', `${endpoint.path}?cursor=bm90IG91cnM`, headers), 'bad_request')
  })
})

describe('an admin list', () => {
  const lists = named.filter(([, { list }]) => list === 'offset')
  it.each(lists)('%s has its envelope, and refuses invalid limits and offsets', async (_name, endpoint) => {
    const headers = world.credentials[endpoint.caller] ?? {}
    const path = pathWithUnknownIds(endpoint)
    for (const query of [
      'limit=0',
      'limit=101',
      'limit=1.5',
      'limit=',
      'offset=-1',
      'offset=10001',
      'offset=1e3',
      'offset=x',
    ]) {
      expectError(await call('GET', `${path}?${query}`, headers), 'validation_error')
    }
    if (Object.keys(endpoint.params).length > 0) return
    const answer = await call('GET', `${path}?limit=2&offset=10000`, headers)
    expect(answer.status, answer.text.slice(0, 200)).toBe(200)
    expect(answer.body).toMatchObject({ items: [], total: expect.any(Number), limit: 2, offset: 10_000 })
    expect((await call('GET', path, headers)).body).toMatchObject({ limit: 50, offset: 0 })
  })
})

describe('paths and methods', () => {
  it('an unknown path is not_found, a wrong method method_not_allowed with Allow', async () => {
    for (const base of ['/oauth', '/api/v1', '/api/v1/dev', '/console', '/admin']) {
      expectError(await call('GET', `${base}/surely-not-here`, {}), 'not_found')
    }
    const wrong = await call('PUT', '/api/v1/runs', world.credentials.integration ?? {}, {})
    expectError(wrong, 'method_not_allowed')
    expect(wrong.body.error.details.allowed).toEqual(String(wrong.headers.allow).split(', '))
    expect(wrong.headers.allow).toBe('GET, HEAD, POST')
    // A sibling of `{id}` that doesn't have its methods.
    const literal = await call('DELETE', '/console/messenger/accounts/bot', world.credentials.console ?? {})
    expectError(literal, 'method_not_allowed')
    expect(literal.headers.allow).toBe('POST')
  })

  it('an unknown path is a page for a person who follows a link, in their language, and the error for others', async () => {
    for (const path of ['/nothing', '/api/v1/surely-not-here', '/docs/nothing']) {
      const person = { accept: 'text/html,application/xhtml+xml;q=0.9', 'accept-language': 'de' }
      const page = await call('GET', path, person)
      expect([page.status, page.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8'])
      expect(page.text).toContain('<h1>Diese Seite gibt es nicht</h1>')
      expect(page.text).not.toContain(path)
      for (const accept of ['*/*', 'application/json']) expectError(await call('GET', path, { accept }), 'not_found')
    }
    // A record that doesn't exist isn't an address.
    const page = await call('GET', '/api/v1/runs', { accept: 'text/html' })
    expectError(page, 'unauthorized')
  })

  it('the APIs answer a preflight from any origin; the console doesn’t', async () => {
    const preflight = await call('OPTIONS', '/api/v1/runs', { origin: 'https://anywhere.example' })
    expect([preflight.status, preflight.headers['access-control-allow-origin']]).toEqual([204, '*'])
    expect(preflight.headers['access-control-allow-credentials']).toBeUndefined()
    expect((await call('OPTIONS', '/console/me', {})).headers['access-control-allow-origin']).toBeUndefined()
  })
})

function emptyBody(endpoint: { method: string; consumes?: string }): unknown {
  return endpoint.method === 'GET' ? undefined : endpoint.consumes === 'form' ? '' : {}
}

function formHeaders(endpoint: { consumes?: string }): Record<string, string> {
  return endpoint.consumes === 'form' ? { 'content-type': 'application/x-www-form-urlencoded' } : {}
}
