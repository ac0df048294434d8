import { expect, it } from 'vitest'
import * as z from 'zod'
import { requestFunctions } from '#functions/registry.ts'
import type { Endpoint } from '#shared/http/endpoint.ts'
import type { Exchange } from '#shared/http/exchange.ts'
import { orderFields } from '#shared/http/field-order.ts'
import { renderValue } from '#shared/http/render.ts'

const order = (schema: z.ZodType, value: unknown): string => JSON.stringify(orderFields(schema, value))

it('puts the fields of nested objects in the order of the schema', () => {
  const schema = z.object({
    by: z.object({ type: z.string(), id: z.string(), name: z.string().optional() }).nullable(),
    all: z.array(z.object({ a: z.number(), b: z.number() })),
  })
  expect(order(schema, { all: [{ b: 2, a: 1 }], by: { name: 'n', id: 'i', type: 't' } })).toBe(
    '{"by":{"type":"t","id":"i","name":"n"},"all":[{"a":1,"b":2}]}',
  )
  expect(order(schema, { all: [], by: null })).toBe('{"by":null,"all":[]}')
})

it('picks the alternative with the object’s fields and constants', () => {
  const schema = z.union([
    z.object({ kind: z.literal('a'), x: z.string(), y: z.string() }),
    z.object({ kind: z.literal('b'), y: z.string(), x: z.string() }),
    z.string(),
  ])
  expect(order(schema, { y: '2', x: '1', kind: 'a' })).toBe('{"kind":"a","x":"1","y":"2"}')
  expect(order(schema, { x: '1', y: '2', kind: 'b' })).toBe('{"kind":"b","y":"2","x":"1"}')
  expect(order(schema, 'text')).toBe('"text"')
})

it('leaves free-form JSON unchanged', () => {
  const schema = z.object({ input: z.record(z.string(), z.unknown()), any: z.unknown() })
  const text = '{"input":{"z":1,"a":{"y":1,"b":2}},"any":{"q":1,"c":2}}'
  expect(order(schema, JSON.parse(text))).toBe(text)
})

type Json = Record<string, unknown>

/** Generates a value of a JSON schema, with its fields in declared order. */
const example = (json: Json, root: Json): unknown => {
  if (typeof json.$ref === 'string') {
    return example((root.$defs as Record<string, Json>)[json.$ref.split('/').at(-1) as string] ?? {}, root)
  }
  const alternatives = (json.anyOf ?? json.oneOf) as Json[] | undefined
  if (alternatives) return example(alternatives[0] ?? {}, root)
  if ('const' in json) return json.const
  if (Array.isArray(json.enum)) return json.enum[0]
  if (json.type === 'array') return [example((json.items ?? {}) as Json, root)]
  if (json.type !== 'object') return 'value'
  const properties = Object.entries((json.properties ?? {}) as Record<string, Json>)
  return Object.fromEntries(properties.map(([name, one]) => [name, example(one, root)]))
}

/** Reverses the fields of all objects in a value. */
const reversed = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(reversed)
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.entries(value).map(([name, one]) => [name, reversed(one)])
  return Object.fromEntries(fields.reverse())
}

const declared = Object.values(requestFunctions)
  .flat()
  .flatMap((endpoint) => (endpoint.response && !endpoint.produces ? [[endpoint.id, endpoint] as const] : []))

it.each(declared)('%s answers with its fields in declared order', (_id, declaration) => {
  const endpoint = declaration as Endpoint
  // Without names: a schema that occurs twice in an answer is made twice, which zod takes for two schemas of one name.
  const options = { io: 'output', unrepresentable: 'any', metadata: z.registry<Record<string, unknown>>() } as const
  const json = z.toJSONSchema(endpoint.response?.() as z.ZodType, options) as Json
  const one = example(json, json)
  const answer = (value: unknown) =>
    renderValue({ endpoint } as Exchange, endpoint.list ? { items: [value], next_cursor: null } : value).body
  expect(answer(reversed(one))).toBe(JSON.stringify(endpoint.list ? { items: [one], next_cursor: null } : one))
})
