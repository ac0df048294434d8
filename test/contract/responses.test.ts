import { Validator } from '@cfworker/json-schema'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { requestFunctions } from '#functions/registry.ts'
import { errorCodesOf } from '#openapi/error-codes.ts'
import type { Endpoint } from '#shared/http/endpoint.ts'
import { newId } from '#shared/kernel/ids.ts'
import { startPlatform, type TestPlatform } from '#testkit/platform.ts'
import { platformErrorOf } from '#testkit/platform-error.ts'
import { sampleCall } from '#testkit/sample-call.ts'
import { samples } from '#testkit/samples.ts'
import { createStage, type Stage } from '#testkit/stage.ts'

const endpoints = Object.values(requestFunctions).flat()
const named = endpoints.map((endpoint) => [`${endpoint.method} ${endpoint.path}`, endpoint] as const)

let platform: TestPlatform
let stage: Stage
beforeAll(async () => {
  platform = await startPlatform()
  stage = await createStage(platform)
})
afterAll(async () => {
  await stage.close()
  await platform.stop()
})

it('every sample call belongs to an endpoint', () => {
  const ids = new Set(endpoints.map(({ id }) => id))
  expect(
    Object.keys(samples).filter((id) => !ids.has(id)),
    'testkit/samples.ts',
  ).toEqual([])
})

describe('a valid call', () => {
  it.each(named)('%s answers as declared', async (_name, endpoint) => {
    const answer = await stage.call(endpoint, await sampleCall(stage, endpoint))
    expect(answer.status, answer.text.slice(0, 400)).toBe(endpoint.status)
    expect(answer.headers['x-request-id']).toMatch(/^req_[0-9a-z]{26}$/)
    expect(answer.headers['x-content-type-options']).toBe('nosniff')
    if (endpoint.secret) expect(answer.headers['cache-control']).toBe('no-store')
    else if (!endpoint.produces)
      expect(secretsIn(answer.text), 'a secret in an answer that is not declared to hold one').toEqual([])
    if (endpoint.status === 204 || endpoint.status === 302) return void expect(answer.text).toBe('')
    expect('etag' in answer.headers, 'an entity tag, and a declaration of it').toBe(endpoint.conditional ?? false)
    const type = answer.headers['content-type']?.split(';')[0] ?? ''
    expect([endpoint.produces ?? 'application/json'].flat()).toContain(type)
    if (endpoint.produces && !(endpoint.response && type.endsWith('json'))) return
    const schema = strict(endpoint)
    if (endpoint.list === 'offset') {
      const { items, ...rest } = answer.body
      expect(rest).toEqual({ total: expect.any(Number), limit: 50, offset: 0 })
      expect(items.length, 'an empty list proves nothing').toBeGreaterThan(0)
      expect(rest.total).toBeGreaterThanOrEqual(items.length)
      for (const item of items) expectValid(schema, item)
      return
    }
    if (endpoint.list !== 'page') return void expectValid(schema, answer.body)
    const { items: _, next_cursor: _cursor, has_more: _more, ...rest } = answer.body
    expect(answer.body).toHaveProperty('next_cursor')
    if (endpoint.also) expectValid(z.toJSONSchema(endpoint.also(), { io: 'output' }), rest)
    else expect(rest).toEqual({})
    expect([answer.body.next_cursor, answer.body.has_more]).toEqual([null, false])
    expect(answer.body.items.length, 'an empty list proves nothing').toBeGreaterThan(0)
    for (const item of answer.body.items) expectValid(schema, item)
  })

  it('the comparison detects an undeclared field at any depth', () => {
    const session = endpoints.find(({ id }) => id === 'api.me.read') as Endpoint
    const validator = new Validator(strict(session) as never, '2020-12')
    expect(validator.validate({ surely_no_such_field: 1 }).valid).toBe(false)
    const nested = new Validator(
      z.toJSONSchema(z.object({ a: z.array(z.object({ b: z.string() })) }), { io: 'output' }) as never,
      '2020-12',
    )
    expect(nested.validate({ a: [{ b: 'x' }] }).valid).toBe(true)
    expect(nested.validate({ a: [{ b: 'x', c: 1 }] }).valid).toBe(false)
  })
})

describe('a valid call with an unknown id in its query or body', () => {
  const naming = named.filter(([, { query, body }]) => /"\w+_id":/.test(JSON.stringify([query, body].map(properties))))
  it.each(naming)('%s answers as documented', async (_name, endpoint) => {
    const sample = await sampleCall(stage, endpoint)
    const [path = '', search = ''] = sample.path.split('?')
    const query = new URLSearchParams(search)
    for (const name of Object.keys(properties(endpoint.query))) if (name.endsWith('_id')) query.set(name, NOTHING)
    const ids = Object.keys(properties(endpoint.body)).filter((name) => name.endsWith('_id'))
    const body = typeof sample.body === 'object' ? { ...sample.body } : sample.body
    if (typeof body === 'object') Object.assign(body, Object.fromEntries(ids.map((name) => [name, NOTHING])))
    const answer = await stage.call(endpoint, { ...sample, path: query.size > 0 ? `${path}?${query}` : path, body })
    if (answer.status < 400) return
    const code = endpoint.standard ? answer.body.error : platformErrorOf(answer).code
    expect(errorCodesOf(endpoint), answer.text.slice(0, 300)).toContain(code)
  })
})

const NOTHING = newId('account', 0)

function properties(schema: Endpoint['query']): object {
  const json = schema && z.toJSONSchema(schema(), { io: 'input', unrepresentable: 'any' })
  return json?.properties ?? {}
}

/** Returns the declared schema as JSON Schema; an output has no undeclared fields. */
function strict(endpoint: Endpoint): object {
  const schema = endpoint.response?.()
  if (!schema) throw new Error(`${endpoint.id} declares no response`)
  // Without names: a schema that occurs twice in an answer is made twice, which zod takes for two schemas of one name.
  return z.toJSONSchema(schema, { io: 'output', unrepresentable: 'any', metadata: z.registry() })
}

function expectValid(schema: object, value: unknown): void {
  const { valid, errors } = new Validator(schema as never, '2020-12', false).validate(value)
  expect(valid ? [] : errors.map(({ instanceLocation, error }) => `${instanceLocation} ${error}`)).toEqual([])
}

function secretsIn(text: string): string[] {
  return text.match(/\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{20,}|\b(?:dvk|whsec|agsec|cs)_[A-Za-z0-9+/_=-]{20,}/g) ?? []
}
