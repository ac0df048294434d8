import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { requestFunctions } from '#functions/registry.ts'
import { EVENTS } from '#shared/events/catalogue.ts'
import { ERRORS } from '#shared/kernel/errors.ts'
import { usingWorld } from '#test/contract/using.ts'
import { installed } from '#test/support/fixtures.ts'
import type { Answer } from '#test/support/platform.ts'
import { usingPlatform } from '#test/support/using-platform.ts'
import { validBody } from './bodies.ts'
import { pathWithUnknownIds, WRONG_BODIES } from './world.ts'

interface Contract {
  method: string
  path: string
  caller: string
  scope: string | null
  role: string | null
  list: boolean | 'offset'
}

const { endpoints: contract, event_types: eventTypes }: { endpoints: Contract[]; event_types: string[] } = JSON.parse(
  readFileSync(new URL('endpoints.json', import.meta.url), 'utf8'),
)
const endpoints = Object.values(requestFunctions).flat()
const named = endpoints.map((endpoint) => [`${endpoint.method} ${endpoint.path}`, endpoint] as const)

const platform = usingPlatform()
const world = usingWorld(platform)

const call = (method: string, path: string, headers: Record<string, string>, body?: unknown): Promise<Answer> => {
  platform.clock.advance(1_000)
  return platform.call(method, path, { headers, ...(body !== undefined && { body }) })
}

/** The platform's error body, whole (specification "Errors"). */
const expectError = (answer: Answer, ...codes: string[]): void => {
  const { error } = answer.body ?? {}
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

describe('the contract', () => {
  it.each(named)('%s is declared as the contract has it', (_name, endpoint) => {
    const key = (path: string) => path.replaceAll(/\{\w+\}/g, '{}')
    const own = contract.find((one) => one.method === endpoint.method && key(one.path) === key(endpoint.path))
    // The root address and the page's own assets are the platform's, not the contract's.
    if (!own && endpoint.group === 'docs') return
    expect(own, 'has no line in test/contract/endpoints.json').toBeTruthy()
    expect(endpoint.caller).toBe(own?.caller)
    expect(endpoint.scope ?? null).toBe(own?.scope)
    if (own?.role && !own.role.endsWith('?') && own.role !== 'moderator') expect(endpoint.role).toBe(own.role)
    if (own?.list === true) expect(endpoint.list).toBe('page')
    if (own?.list === 'offset') expect(endpoint.list).toBe('offset')
  })

  it('has every event type', () => {
    const visible = Object.entries(EVENTS).flatMap(([type, { audience }]) => (audience === 'internal' ? [] : [type]))
    expect(visible.sort(), 'event_types of test/contract/endpoints.json').toEqual([...eventTypes].sort())
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
    expectError(answer, 'unauthorized', 'invalid_client')
    expect(answer.headers['www-authenticate']).toMatch(/^Bearer /)
  })
})

describe('with somebody else’s credential', () => {
  const cases = named.filter(([, { caller }]) => caller !== 'none' && caller !== 'client')
  it.each(cases)('%s is refused', async (_name, endpoint) => {
    for (const [kind, headers] of Object.entries(world.credentials)) {
      if (kind === endpoint.caller || Object.keys(headers).length === 0) continue
      const answer = await call(endpoint.method, pathWithUnknownIds(endpoint), headers, emptyBody(endpoint))
      expectError(answer, 'unauthorized', ...(endpoint.caller === 'developer' ? ['not_a_developer'] : []))
    }
    for (const [header, value] of [
      ['authorization', 'Bearer eyJhbGciOiJub25lIn0.e30.'],
      ['authorization', 'Basic YTpi'],
      ['authorization', ''],
      ['x-developer-key', 'dvk_wrong'],
      ['x-admin-key', 'wrong'],
    ] as const) {
      const answer = await call(endpoint.method, pathWithUnknownIds(endpoint), { [header]: value }, emptyBody(endpoint))
      expectError(answer, 'unauthorized')
    }
  })
})

describe('with a scope missing', () => {
  const scoped = named.filter(([, { scope }]) => scope)
  it.each(scoped)('%s says which', async (_name, endpoint) => {
    const held = endpoint.scope === 'members:read' ? 'agents:read' : 'members:read'
    const poor = await installed(platform.deps, { scopes: [held] })
    const answer = await call(
      endpoint.method,
      pathWithUnknownIds(endpoint),
      { authorization: `Bearer ${poor.token}` },
      emptyBody(endpoint),
    )
    expectError(answer, 'insufficient_scope')
    expect(answer.body.error.details).toEqual({ required_scope: endpoint.scope, granted_scopes: [held] })
  })
})

describe('with an id that is unknown or of another shape', () => {
  const byId = named.filter(
    ([, { params, caller }]) => Object.values(params).some((kind) => kind !== 'text') && caller !== 'none',
  )
  it.each(byId)('%s is not_found', async (_name, endpoint) => {
    const headers = world.credentials[endpoint.caller] ?? {}
    const sample = validBody(endpoint.id)
    expectError(await call(endpoint.method, pathWithUnknownIds(endpoint), headers, sample), 'not_found')
    const misshapen = endpoint.path.replaceAll(/\{\w+\}/g, '..%2f..%2fetc')
    expectError(await call(endpoint.method, misshapen, headers, sample), 'not_found')
  })
})

describe('with a body that is wrong', () => {
  const bodied = named.filter(([, { method, consumes }]) => method !== 'GET' && consumes !== 'form')
  it.each(bodied)('%s says what is wrong and never fails', async (_name, endpoint) => {
    const headers = world.credentials[endpoint.caller] ?? {}
    const path = pathWithUnknownIds(endpoint)
    for (const [what, body] of WRONG_BODIES) {
      // It answers 200 to any JSON: saying what is wrong is its purpose (decisions §7).
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
    const size = (endpoint.maxBodyBytes ?? 262_144) + 10
    expectError(await call(endpoint.method, path, headers, `{"a":"${'x'.repeat(size)}"}`), 'payload_too_large')
  })
})

describe('with a query parameter that does not exist', () => {
  const strict = named.filter(
    ([, { method, lenient, group }]) => method === 'GET' && !lenient && group !== 'docs' && group !== 'oauth',
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
  it.each(lists)('%s has the envelope, and refuses limits and cursors that are none', async (_name, endpoint) => {
    const headers = world.credentials[endpoint.caller] ?? {}
    if (Object.keys(endpoint.params).length > 0) return
    const answer = await call('GET', endpoint.path, headers)
    expect(answer.status, answer.text.slice(0, 200)).toBe(200)
    expect(answer.body).toMatchObject({ items: expect.any(Array), has_more: expect.any(Boolean) })
    expect(answer.body).toHaveProperty('next_cursor')
    if (!endpoint.query) return
    for (const limit of ['0', '101', '-1', '1.5', 'x', '']) {
      expectError(await call('GET', `${endpoint.path}?limit=${limit}`, headers), 'validation_error')
    }
    expectError(await call('GET', `${endpoint.path}?cursor=bm90IG91cnM`, headers), 'bad_request')
  })
})

describe('an admin list', () => {
  const lists = named.filter(([, { list }]) => list === 'offset')
  it.each(lists)('%s has its envelope, and refuses limits and offsets that are none', async (_name, endpoint) => {
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

describe('addresses and methods', () => {
  it('an unknown path is not_found, a wrong method method_not_allowed with Allow', async () => {
    for (const base of ['/oauth', '/api/v1', '/api/v1/dev', '/console', '/admin']) {
      expectError(await call('GET', `${base}/surely-not-here`, {}), 'not_found')
    }
    const wrong = await call('PUT', '/api/v1/runs', world.credentials.integration ?? {}, {})
    expectError(wrong, 'method_not_allowed')
    expect(wrong.headers.allow).toBe('GET, POST')
    // Beside `{id}`, whose methods it does not have.
    const literal = await call('DELETE', '/console/messenger/accounts/bot', world.credentials.console ?? {})
    expectError(literal, 'method_not_allowed')
    expect(literal.headers.allow).toBe('POST')
  })

  it('the APIs answer a preflight from any origin, the console does not', async () => {
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
