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

it('the integration document stays small enough for generators and editors: at most 250 KB', () => {
  expect(JSON.stringify(buildDocument(endpoints, '1.0.0', 'integration')).length).toBeLessThanOrEqual(250_000)
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
