import { readFile } from 'node:fs/promises'
import SwaggerParser from '@apidevtools/swagger-parser'
import { beforeAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { requestFunctions } from '#functions/registry.ts'
import { buildDocument } from '#openapi/document.ts'
import { errorCodesOf } from '#openapi/error-codes.ts'
import { EXAMPLE_MANIFEST } from '#openapi/manifest.ts'
import { validateManifest } from '#shared/catalogue/manifests/validate.ts'
import { EVENTS } from '#shared/delivery/catalogue/catalogue.ts'
import { defineEndpoint, keepsAnswers } from '#shared/http/endpoint.ts'
import { errorFormOf } from '#shared/http/error-form.ts'
import { ERRORS, type ErrorCode } from '#shared/kernel/errors.ts'
import { SCOPE_NAMES } from '#shared/kernel/scopes.ts'

// biome-ignore lint/suspicious/noExplicitAny: a document of any depth
type Any = any

const endpoints = Object.values(requestFunctions).flat()
let document: Any

beforeAll(async () => {
  const { version } = JSON.parse(await readFile('package.json', 'utf8'))
  document = buildDocument(endpoints, version)
})

const operations = (): [string, Any][] =>
  Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item as Any).map(([method, one]): [string, Any] => [`${method.toUpperCase()} ${path}`, one]),
  )

describe('the OpenAPI document', () => {
  it('is valid OpenAPI 3.1, and every reference resolves', async () => {
    await expect(SwaggerParser.validate(structuredClone(document))).resolves.toBeTruthy()
    expect(document.openapi).toBe('3.1.0')
  })

  it('has every endpoint of every function, and else only the second step of an upload, at its own server', () => {
    const declared = endpoints.map(({ method, path }) => `${method} ${path}`)
    const described = operations().map(([name]) => name)
    expect(described.sort()).toEqual([...declared, 'PUT /files/{workspace_id}/{file_id}'].sort())
    const elsewhere = operations().filter(([, { servers }]) => servers)
    expect(elsewhere.map(([name]) => name)).toEqual(['PUT /files/{workspace_id}/{file_id}'])
  })

  it('names, summarizes and tags every operation', () => {
    const tags = document.tags.map(({ name }: Any) => name)
    for (const [name, operation] of operations()) {
      expect(operation.operationId, name).toMatch(/^[a-z][\w.]+$/i)
      expect(operation.summary, name).toMatch(/\S/)
      expect(
        operation.tags.every((tag: string) => tags.includes(tag)),
        name,
      ).toBe(true)
    }
  })

  it('lists for each operation the answers that its caller, scope, body and method make possible', () => {
    for (const endpoint of endpoints) {
      const { responses } = document.paths[endpoint.path][endpoint.method.toLowerCase()]
      const statuses = Object.keys(responses).map(Number)
      expect(responses.default, endpoint.id).toEqual({ $ref: '#/components/responses/Gateway' })
      const wanted = [
        endpoint.status,
        500,
        ...(endpoint.caller === 'none' ? [] : [401]),
        ...(endpoint.scope ? [403] : []),
        ...(endpoint.method === 'GET' ? [] : [400, 413, 415]),
        ...(keepsAnswers(endpoint) ? [409] : []),
        ...(endpoint.anonymous ? [429] : []),
        ...(Object.keys(endpoint.params).length > 0 ? [404] : []),
        ...endpoint.errors.map((code) => ERRORS[code][0]),
      ]
      const form = errorFormOf(endpoint)
      // RFC 6749 has 400 for all errors of a request but a client that isn’t authenticated.
      const given = (status: number) =>
        form === 'oauth' && status > 400 && status < 500 && status !== 401 && status !== 429 ? 400 : status
      // A2A has 400 for parameters, and 200 in JSON-RPC.
      const isGiven = (status: number) => status !== 422 || !form.startsWith('a2a')
      expect(statuses, endpoint.id).toEqual(expect.arrayContaining(wanted.filter(isGiven).map(given)))
    }
  })

  it('describes how a surface token is refused wherever a token is accepted', () => {
    for (const endpoint of endpoints) {
      if (!['console', 'developer', 'admin'].includes(endpoint.caller)) continue
      const refusal = endpoint.method === 'GET' ? 'insufficient_scope' : 'disposable_token_readonly'
      expect(errorCodesOf(endpoint), endpoint.id).toContain(refusal)
    }
  })

  it('requires a body only where an empty one would be refused', () => {
    for (const endpoint of endpoints) {
      const { requestBody } = document.paths[endpoint.path][endpoint.method.toLowerCase()]
      expect(requestBody?.required, endpoint.id).toBe(endpoint.body && !endpoint.body().safeParse({}).success)
    }
  })

  it('describes the Last-Event-ID that each event stream sends and accepts', () => {
    const streams = endpoints.filter(({ produces }) => produces === 'text/event-stream')
    for (const { id, path, method, example } of streams) {
      const { parameters } = document.paths[path][method.toLowerCase()]
      const pattern = new RegExp(parameters.find(({ name }: Any) => name === 'Last-Event-ID').schema.pattern)
      const given = [...String(example).matchAll(/^id: (.*)$/gm)].map(([, value]) => value)
      for (const value of ['', ...given]) expect(value, id).toMatch(pattern)
      expect(given.length, id).toBeGreaterThan(0)
    }
  })

  it('has Idempotency-Key on every POST and only there', () => {
    for (const [name, { parameters }] of operations()) {
      const offered = parameters.some(({ $ref }: Any) => $ref === '#/components/parameters/IdempotencyKey')
      expect(offered, name).toBe(name.startsWith('POST '))
    }
  })

  it('describes run.execute and every event that receivers get, and no internal ones', () => {
    const received = Object.entries(EVENTS).filter(([, { audience }]) => audience !== 'internal')
    const types = ['run.execute', ...received.map(([type]) => type)]
    expect(Object.keys(document.webhooks).sort()).toEqual(types.sort())
  })

  it('has an example of every error code of an operation, and every scope in the OAuth flow', () => {
    const answered = new Set(endpoints.flatMap((endpoint) => errorCodesOf(endpoint)))
    const byGateway = ['payload_too_large', 'rate_limited', 'internal_error', 'unavailable', 'method_not_allowed']
    expect(Object.keys(document.components.examples)).toEqual(
      Object.keys(ERRORS).filter((code) => byGateway.includes(code) || answered.has(code as ErrorCode)),
    )
    const { scopes } = document.components.securitySchemes.integration.flows.authorizationCode
    expect(Object.keys(scopes)).toEqual(SCOPE_NAMES)
  })

  it('shows an example body that the endpoint accepts', () => {
    for (const endpoint of endpoints) {
      if (!endpoint.body) continue
      const { requestBody } = document.paths[endpoint.path][endpoint.method.toLowerCase()]
      const [{ example }] = Object.values(requestBody.content) as Any
      const parsed = endpoint.body().safeParse(example)
      expect(parsed.error?.issues ?? [], `${endpoint.id} ${JSON.stringify(example)}`).toEqual([])
    }
  })

  it('shows a manifest that the validator accepts', () => {
    const report = validateManifest(EXAMPLE_MANIFEST, { checkUrl: () => undefined, knownScopes: SCOPE_NAMES })
    expect(report.errors).toEqual([])
  })
})

describe('building the document', () => {
  const endpoint = (id: string, path: `/${string}`, response: () => z.ZodType) =>
    defineEndpoint({
      id,
      group: 'docs',
      method: 'GET',
      path,
      caller: 'none',
      summary: 'x',
      response,
      handler: async () => ({}),
    })
  const one = () => z.object({ a: z.string() }).meta({ id: 'One' })

  it('refuses two endpoints with the same method and path', () => {
    expect(() => buildDocument([endpoint('a.b', '/a', one), endpoint('a.c', '/a', one)], '1')).toThrow('declared twice')
  })

  it('accepts a component that is built twice, and refuses two that differ under one id', () => {
    const other = () => z.object({ a: z.number() }).meta({ id: 'One' })
    expect(() => buildDocument([endpoint('a.b', '/a', one), endpoint('a.c', '/b', one)], '1')).not.toThrow()
    expect(() => buildDocument([endpoint('a.b', '/a', one), endpoint('a.c', '/b', other)], '1')).toThrow('differ')
  })

  it('allows additional fields in answers, and keeps the description next to a reference', () => {
    const pair = () => z.object({ first: one(), second: one().optional().meta({ description: 'The other.' }) })
    const made = buildDocument([endpoint('a.b', '/a', pair)], '1') as Any
    const { schema } = made.paths['/a'].get.responses[200].content['application/json']
    expect(schema.additionalProperties).toBeUndefined()
    expect(schema.properties).toEqual({
      first: { $ref: '#/components/schemas/One' },
      second: { $ref: '#/components/schemas/One', description: 'The other.' },
    })
    expect(schema.required).toEqual(['first'])
  })
})
