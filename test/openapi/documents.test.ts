import { isDeepStrictEqual } from 'node:util'
import { describe, expect, it } from 'vitest'
import { requestFunctions } from '#functions/registry.ts'
import { buildDocument } from '#openapi/document.ts'
import { withNamedSchemas } from '#openapi/named-schemas.ts'
import { DOCUMENT_NAMES } from '#shared/http/documents.ts'

// biome-ignore lint/suspicious/noExplicitAny: a document of any depth
type Any = any

const endpoints = Object.values(requestFunctions).flat()

/** Lists every nested object and enum of a schema. Generators number those that share a property's name. */
const inlineSchemas = (schema: Any, at: string): string[] => {
  if (typeof schema !== 'object' || schema === null) return []
  const own = schema.properties || (Array.isArray(schema.enum) && schema.enum.length > 1) ? [at] : []
  const below = [
    ...Object.entries(schema.properties ?? {}).map(([name, one]): [string, Any] => [`${at}.${name}`, one]),
    ...[...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].map((one, i): [string, Any] => [`${at}|${i}`, one]),
    [`${at}[]`, schema.items] as [string, Any],
    [`${at}{}`, schema.additionalProperties] as [string, Any],
  ].flatMap(([name, one]) => inlineSchemas(one, name))
  return [...own, ...below]
}

/** Types of Java, C#, Python, Go, Rust, Swift, Kotlin or JavaScript that a model of the same name would hide. */
const PLATFORM_TYPES = new Set(
  'Any Array BigDecimal Blob Boolean Byte ByteArray Class CustomEvent Date DateTime Decimal Dict Double Error Event Exception File Float Function Integer List Long Map Notification Number Object Option Path Promise Record Request Response Result Set String Symbol Task Throwable UUID Uri Url Void'.split(
    ' ',
  ),
)

const resolved = (document: Any, one: Any): Any =>
  one.$ref === undefined ? one : document.components.parameters[one.$ref.split('/').at(-1)]

describe.each(DOCUMENT_NAMES)('the document %s', (name) => {
  const document = buildDocument(endpoints, '1.0.0', name) as Any
  const text = JSON.stringify(document)

  it('names every object and enum of a component, so that generators don’t number them', () => {
    for (const [component, schema] of Object.entries(document.components.schemas)) {
      expect(inlineSchemas(schema, component).slice(1), component).toEqual([])
    }
  })

  it('shares error responses instead of repeating them', () => {
    for (const [path, item] of Object.entries(document.paths)) {
      for (const { responses } of Object.values(item as Any) as Any[]) {
        const errors = Object.entries(responses).filter(([status]) => !/^[23]/.test(status))
        for (const [status, response] of errors) {
          expect(Object.keys(response as object), `${path} ${status}`).toEqual(['$ref'])
        }
      }
    }
  })

  it('has its webhooks’ schemas as components, which generators name', () => {
    for (const [type, { post }] of Object.entries(document.webhooks ?? {}) as [string, Any][]) {
      for (const { content } of [post.requestBody, ...Object.values(post.responses)] as Any[]) {
        for (const { schema } of Object.values(content ?? {}) as Any[]) {
          expect(Object.keys(schema), type).toEqual(['$ref'])
        }
      }
    }
  })

  it('names no schema like a platform type of a language', () => {
    const names = Object.keys(document.components.schemas)
    expect(names.filter((one) => PLATFORM_TYPES.has(one))).toEqual([])
  })

  it('has an example of every required parameter, and none of an Idempotency-Key', () => {
    const items = Object.entries({ ...document.paths, ...document.webhooks }) as [string, Any][]
    for (const [path, item] of items) {
      for (const { parameters } of Object.values(item) as Any[]) {
        for (const { name, required, schema } of parameters.map((one: Any) => resolved(document, one))) {
          const isShown = ['example', 'examples', 'enum', 'const', 'default'].some((keyword) => keyword in schema)
          if (required) expect(isShown, `${path} ${name}`).toBe(true)
          if (name === 'Idempotency-Key') expect(isShown, path).toBe(false)
        }
      }
    }
  })

  it('says as a pattern which cursors and events are accepted', () => {
    for (const item of Object.values(document.paths) as Any[]) {
      for (const { parameters } of Object.values(item) as Any[]) {
        const cursor = parameters.find(({ name }: Any) => name === 'cursor')
        if (cursor) expect(cursor.schema.pattern).toBe('^[A-Za-z0-9_-]+$')
      }
    }
    const mask = document.components.schemas.EventMask
    if (!mask) return
    const accepted = (text: string) => new RegExp(mask.pattern).test(text)
    expect(['*', 'run.*', 'run.succeeded', 'custom.order.paid', 'custom.*'].filter((one) => !accepted(one))).toEqual([])
    expect(['run', 'ru*', 'run.unknown', 'custom', ''].filter(accepted)).toEqual([])
  })

  it('has no description above 1,024 characters, and no empty object as a default', () => {
    const long: string[] = []
    const visit = (value: Any, at: string): void => {
      if (typeof value !== 'object' || value === null) return
      if (typeof value.description === 'string' && value.description.length > 1_024) long.push(at)
      if (isDeepStrictEqual(value.default, {}) && !at.endsWith('/properties')) long.push(`${at}/default`)
      for (const [name, one] of Object.entries(value)) visit(one, `${at}/${name}`)
    }
    visit(document, '')
    expect(long).toEqual([])
  })

  it('names the issuer at which standard clients work, and no address for refreshing', () => {
    const { integration } = document.components.securitySchemes
    if (!integration) return
    const { authorizationUrl, tokenUrl, refreshUrl } = integration.flows.authorizationCode
    expect([authorizationUrl, tokenUrl, refreshUrl].map((url) => url && new URL(url).pathname)).toEqual([
      '/connect/authorize',
      '/connect/token',
      undefined,
    ])
  })

  it('has no component that nothing refers to, and none that is missing', () => {
    const referred = new Set([...text.matchAll(/"#\/components\/([\w/.-]+)"/g)].map(([, ref]) => ref))
    const present = Object.entries(document.components)
      .filter(([kind]) => kind !== 'securitySchemes')
      .flatMap(([kind, all]) => Object.keys(all as object).map((one) => `${kind}/${one}`))
    expect([...referred].sort()).toEqual(present.sort())
  })

  it('describes the security schemes that it uses, and no others', () => {
    const operations = Object.values(document.paths).flatMap((item) => Object.values(item as Any)) as Any[]
    const used = new Set(operations.flatMap(({ security }) => security.flatMap(Object.keys)))
    expect(Object.keys(document.components.securitySchemes).sort()).toEqual([...used].sort())
  })
})

it('the integration document stays small enough for generators and editors: at most 320 KiB', () => {
  expect(JSON.stringify(buildDocument(endpoints, '1.0.0', 'integration')).length).toBeLessThanOrEqual(320 * 1_024)
})

it('the document of essentials has thirty operations in at most 140 KB', () => {
  const { paths } = buildDocument(endpoints, '1.0.0', 'essentials') as Any
  expect(Object.values(paths).flatMap((item) => Object.keys(item as Any))).toHaveLength(30)
  expect(JSON.stringify(buildDocument(endpoints, '1.0.0', 'essentials')).length).toBeLessThanOrEqual(140_000)
})

describe('naming nested schemas', () => {
  const object = (properties: object) => ({ type: 'object', properties })

  it('uses the path of properties, and the constant that tells a variant from the others', () => {
    const { Run, ...more } = withNamedSchemas({
      Run: object({
        agent: object({ id: { type: 'string' } }),
        steps: { type: 'array', items: object({ n: {} }) },
        result: {
          anyOf: [object({ kind: { const: 'ok' } }), object({ kind: { const: 'not_found' } }), { type: 'null' }],
        },
      }),
    }) as Any
    expect(Object.keys(more).sort()).toEqual(['RunAgent', 'RunResultNotFound', 'RunResultOk', 'RunStepsItem'])
    expect(Run.properties.agent).toEqual({ $ref: '#/components/schemas/RunAgent' })
  })

  it('refuses a name that another schema has', () => {
    const both = { Run: object({ agent: object({ id: {} }) }), RunAgent: object({ name: {} }) }
    expect(() => withNamedSchemas(both)).toThrow('RunAgent')
  })
})
