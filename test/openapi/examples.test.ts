import Ajv2020 from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { beforeAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { requestFunctions } from '#functions/registry.ts'
import { buildDocument } from '#openapi/document.ts'
import { DOCUMENT_NAMES } from '#shared/http/documents.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { isId } from '#shared/kernel/ids.ts'

// biome-ignore lint/suspicious/noExplicitAny: a document of any depth
type Any = any

const endpoints = Object.values(requestFunctions).flat()
let document: Any
beforeAll(() => {
  document = buildDocument(endpoints, '1')
})

/** Lists everything that has content, with its name and its media types with schema and example. */
const contents = (made: Any): [name: string, content: Record<string, Any>][] =>
  [
    ...Object.entries(made.paths).flatMap(([path, item]) =>
      Object.entries(item as Any).map(([method, one]): [string, Any] => [`${method.toUpperCase()} ${path}`, one]),
    ),
    ...Object.entries(made.webhooks ?? {}).map(([type, { post }]: [string, Any]): [string, Any] => [
      `webhook ${type}`,
      post,
    ]),
  ].flatMap(([name, { requestBody, responses }]): [string, Any][] => [
    [`${name} request`, requestBody?.content ?? {}],
    ...Object.entries(responses)
      .filter(([status]) => status.startsWith('2'))
      .map(([status, answer]): [string, Any] => [`${name} ${status}`, (answer as Any).content ?? {}]),
  ])

/** Lists the error responses that operations share. */
const sharedResponses = (made: Any): [name: string, content: Record<string, Any>][] =>
  Object.entries(made.components.responses).map(([name, { content }]: [string, Any]) => [
    `response ${name}`,
    content ?? {},
  ])

const examplesOf = (made: Any, { example, examples = {} }: Any): unknown[] =>
  example === undefined
    ? Object.values(examples).map((one: Any) => (made.components.examples?.[one.$ref?.split('/').at(-1)] ?? one).value)
    : [example]

const wrong = (made: Any, among = contents(made)): string[] => {
  const all = among.flatMap(([name, content]) =>
    Object.entries(content).map(([type, one]) => ({ name: `${name} ${type}`, ...one })),
  )
  const ajv = new Ajv2020.default({ strict: false, allErrors: true })
  addFormats.default(ajv)
  ajv.addSchema({ $id: 'https://x.example/', components: made.components, contents: all.map(({ schema }) => schema) })
  return all.flatMap(({ name, ...one }, i) => {
    const examples = examplesOf(made, one)
    if (examples.length === 0) return [`${name}: has no example`]
    const validate = ajv.compile({ $ref: `https://x.example/#/contents/${i}` })
    return examples.flatMap((example) => {
      validate(example)
      return (validate.errors ?? []).map(({ instancePath, message }) => `${name}: ${instancePath} ${message}`)
    })
  })
}

describe('the examples of the OpenAPI document', () => {
  it('exist for every body, answer and event, and fit their schema', () => {
    expect(contents(document).length).toBeGreaterThan(200)
    expect(wrong(document)).toEqual([])
  })

  it.each(DOCUMENT_NAMES)('of errors fit their schema in the document %s, which has only its own codes', (name) => {
    const made = buildDocument(endpoints, '1', name) as Any
    expect(sharedResponses(made).length).toBeGreaterThan(3)
    expect(wrong(made, sharedResponses(made))).toEqual([])
  })

  it('are checked, so that a wrong one fails', () => {
    const broken = structuredClone(document)
    broken.paths['/api/v1/runs/{id}'].get.responses[200].content['application/json'].example.status = 'no such status'
    delete broken.paths['/api/v1/runs'].post.requestBody.content['application/json'].example
    const findings = wrong(broken)
    expect(findings).toContain('POST /api/v1/runs request application/json: has no example')
    expect(findings.join()).toContain('GET /api/v1/runs/{id} 200 application/json: /status')
  })

  it('are generated for an endpoint without any: ids of their kind, times, addresses, within limits', () => {
    const declared = defineEndpoint({
      id: 'x.y.create',
      group: 'api',
      method: 'POST',
      path: '/x/{id}',
      params: { id: 'run' },
      caller: 'integration',
      summary: 'Make one',
      body: () => z.strictObject({ webhook_url: z.url(), note: z.string().max(4), share: z.number().min(0).max(0.5) }),
      response: () =>
        z
          .object({
            id: z.string(),
            parent_run_id: z.string(),
            created_at: z.string(),
            app: z.object({ id: z.string(), version: z.string() }),
            scopes: z.array(z.string()).min(2),
            deleted_at: z.string().nullable(),
          })
          .meta({ id: 'Task' }),
      handler: async () => ({}),
    })
    const made = buildDocument([declared], '1') as Any
    expect(wrong(made)).toEqual([])
    const { example } = made.paths['/x/{id}'].post.responses[200].content['application/json']
    expect(isId('task', example.id)).toBe(true)
    expect(isId('run', example.parent_run_id)).toBe(true)
    expect(isId('app', example.app.id)).toBe(true)
    expect(example.app.version).toBe('1.0.0')
    expect(Number.isNaN(Date.parse(example.created_at))).toBe(false)
    expect(example.scopes).toHaveLength(2)
    expect(buildDocument([declared], '1')).toEqual(made)
  })

  it('never combine fields of a body that exclude each other', () => {
    const body = () =>
      z
        .strictObject({ text: z.string().optional(), file_id: z.string().optional() })
        .refine(({ text, file_id }) => (text === undefined) !== (file_id === undefined), 'send one of them')
    const declared = defineEndpoint({
      id: 'x.y.send',
      group: 'api',
      method: 'POST',
      path: '/x',
      caller: 'integration',
      summary: 'Send it',
      body,
      handler: async () => undefined,
    })
    const made = buildDocument([declared], '1') as Any
    expect(Object.keys(made.paths['/x'].post.requestBody.content['application/json'].example)).toEqual(['text'])
  })

  it('are those of the declaration, if it has any', () => {
    const shown = { name: 'Shown' }
    const declared = defineEndpoint({
      id: 'x.y.read',
      group: 'api',
      method: 'GET',
      path: '/x',
      caller: 'integration',
      summary: 'Read it',
      response: () => z.object({ name: z.string() }),
      example: shown,
      handler: async () => ({}),
    })
    const made = buildDocument([declared], '1') as Any
    expect(made.paths['/x'].get.responses[200].content['application/json'].example).toEqual(shown)
  })
})
