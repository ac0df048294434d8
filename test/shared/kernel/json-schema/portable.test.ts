import { describe, expect, it } from 'vitest'
import { validateAgainst } from '#shared/kernel/json-schema/evaluate.ts'
import { portableSchema } from '#shared/kernel/json-schema/portable.ts'
import { portablePattern } from '#shared/kernel/json-schema/portable-pattern.ts'
import { toolFaultsOf } from './portable-faults.ts'
import { DIALECTS, suiteTools } from './suite-tools.ts'

/** Every type, as a property that takes any value lists them. */
const ANY = [
  ...['string', 'number', 'boolean'].map((type) => ({ type })),
  { type: 'object', properties: {} },
  { type: 'array', items: {} },
  { type: 'null' },
]

describe('portableSchema', () => {
  it.each(Object.entries(DIALECTS))(
    'accepts every value that the schema accepts, and has no part that isn’t portable: JSON Schema Test Suite, %s',
    (name, $schema) => {
      const tighter: string[] = []
      const faults: string[] = []
      const tools = suiteTools(name, $schema)
      for (const { title, whole, values } of tools) {
        const portable = portableSchema(whole)
        faults.push(...toolFaultsOf(portable).map((fault) => `${title}: ${fault}`))
        for (const value of values)
          if (validateAgainst(whole, value).length === 0 && validateAgainst(portable, value).length > 0)
            tighter.push(`${title}: ${JSON.stringify(value)} isn’t ${JSON.stringify(portable)}`)
      }
      expect(tighter).toEqual([])
      expect(faults).toEqual([])
      expect(tools.length).toBeGreaterThan(400)
    },
  )

  it('says what a typical schema says', () => {
    const schema = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      properties: {
        code: { type: 'string', pattern: '^(?!00)\\d+$', description: 'A code.' },
        path: { type: 'string', pattern: '^\\/\\w+[\\d.]$' },
        note: { type: ['string', 'null'], minLength: 1, title: 'Note', 'x-order': 1 },
        pair: { type: 'array', items: [{ type: 'string' }, { type: 'integer' }], additionalItems: false },
        size: { $ref: '#/definitions/Size', description: 'How large.' },
        map: { type: 'object', propertyNames: { pattern: '^x' }, additionalProperties: { type: 'number' } },
        pet: { oneOf: [{ type: 'object' }, true], discriminator: { propertyName: 'kind' } },
        root: { $ref: '#/definitions/Node' },
      },
      required: ['code'],
      additionalProperties: false,
      definitions: {
        Size: { enum: ['s', 'm'] },
        Node: { type: 'object', properties: { next: { $ref: '#/definitions/Node' } } },
      },
    }
    expect(portableSchema(schema)).toEqual({
      type: 'object',
      properties: {
        code: { type: 'string', description: 'A code.' },
        path: { type: 'string', pattern: '^/[A-Za-z0-9_]+[0-9.]$' },
        note: { title: 'Note', anyOf: [{ type: 'string', minLength: 1 }, { type: 'null' }] },
        pair: {
          type: 'array',
          prefixItems: [{ type: 'string' }, { type: 'integer' }],
          items: { anyOf: [{ type: 'string' }, { type: 'integer' }] },
          maxItems: 2,
        },
        size: { type: 'string', enum: ['s', 'm'], description: 'How large.' },
        map: { type: 'object', properties: {}, additionalProperties: { type: 'number' } },
        pet: { anyOf: ANY },
        root: { $ref: '#/$defs/Node' },
      },
      required: ['code'],
      additionalProperties: false,
      $defs: { Node: { type: 'object', properties: { next: { $ref: '#/$defs/Node' } } } },
    })
  })

  it('leaves out arguments whose names Anthropic or Semantic Kernel refuse, and accepts them', () => {
    const text = { type: 'string' }
    const schema = {
      type: 'object',
      properties: { name: text, größe: text, 'user.name': text, $top: text },
      required: ['name', '$top'],
      additionalProperties: false,
    }
    const portable = portableSchema(schema)
    expect(portable).toEqual({ type: 'object', properties: { name: text }, required: ['name'] })
    expect(validateAgainst(portable, { name: 'a', $top: 'b' })).toEqual([])
  })

  it('has whole bounds of integers, which accept the same', () => {
    const type = 'integer'
    const x = { type, minimum: 1.5, exclusiveMinimum: 1.5, maximum: 9.5, exclusiveMaximum: 9.5, multipleOf: 0.5 }
    expect(portableSchema({ type: 'object', properties: { x } }).properties).toEqual({
      x: { type, minimum: 2, exclusiveMinimum: 1, maximum: 9, exclusiveMaximum: 10 },
    })
  })

  it('refers only to what comes before or directly around, and ends recursion that passes no object', () => {
    const schema = {
      type: 'object',
      properties: { a: { $ref: '#/$defs/A' }, any: { $ref: '#/$defs/Any' } },
      $defs: {
        A: { type: 'object', properties: { b: { $ref: '#/$defs/B' }, next: { $ref: '#/$defs/A' } } },
        B: {
          type: 'object',
          properties: { a: { $ref: '#/$defs/A' }, all: { type: 'array', items: { $ref: '#/$defs/A' } } },
        },
        Any: { anyOf: [{ type: 'string' }, { type: 'array', items: { $ref: '#/$defs/Any' } }] },
      },
    }
    const A = { type: 'object', properties: { b: { $ref: '#/$defs/B' }, next: { $ref: '#/$defs/A' } } }
    const object = { type: 'object', properties: {} }
    const { $defs = {}, properties } = portableSchema(schema) as { $defs?: object; properties?: object }
    expect(properties).toEqual(schema.properties)
    expect(Object.entries($defs)).toEqual([
      ['B', { type: 'object', properties: { a: object, all: { type: 'array', items: object } } }],
      ['A', A],
      ['Any', { anyOf: [{ type: 'string' }, { type: 'array', items: {} }] }],
    ])
  })

  it('is one object where a schema combines several', () => {
    const kind = (name: string, member: object) => ({
      properties: { kind: { const: name }, ...member },
      required: ['kind', ...Object.keys(member)],
    })
    const text = { type: 'string' }
    const schema = {
      type: 'object',
      properties: { id: text },
      required: ['id'],
      oneOf: [kind('a', { name: text }), kind('b', { name: text, size: { type: 'number' } })],
    }
    expect(portableSchema(schema)).toEqual({
      type: 'object',
      properties: {
        kind: {
          anyOf: [
            { type: 'string', const: 'a' },
            { type: 'string', const: 'b' },
          ],
        },
        name: text,
        size: { anyOf: ANY },
        id: text,
      },
      required: ['id', 'kind', 'name'],
    })
  })

  it('has the type at the top, also if the whole schema is a reference', () => {
    const Node = { type: 'object', properties: { children: { type: 'array', items: { $ref: '#/$defs/Node' } } } }
    expect(portableSchema({ $ref: '#/$defs/Node', $defs: { Node } })).toEqual({ ...Node, $defs: { Node } })
  })

  it('has no part that a framework is known to stop at', () => {
    const schema = {
      type: 'object',
      properties: { any: {}, kind: { const: 'a' }, mail: { type: 'string', format: 'email' }, child: { $ref: '#' } },
    }
    const properties = {
      any: { anyOf: ANY },
      kind: { const: 'a', type: 'string' },
      mail: { type: 'string' },
      child: { $ref: '#/$defs/schema' },
    }
    expect(portableSchema(schema)).toEqual({
      type: 'object',
      properties,
      $defs: { schema: { type: 'object', properties } },
    })
  })

  it('keeps its size where alternatives are combined with alternatives', () => {
    const twenty = (make: (n: number) => object) => ({ anyOf: Array.from({ length: 20 }, (_, n) => make(n)) })
    const objects = (letter: string) =>
      twenty((a) => twenty((b) => ({ type: 'object', properties: { [`${letter}${a}_${b}`]: { type: 'string' } } })))
    const texts = (title: string) => twenty((n) => ({ type: 'string', title: `${title}${n}` }))
    const x = { allOf: [objects('a'), objects('b')] }
    const y = { allOf: [texts('a'), texts('b'), texts('c')] }
    const schema = { type: 'object', properties: { x, y } }
    expect(JSON.stringify(portableSchema(schema)).length).toBeLessThan(JSON.stringify(schema).length)
  })

  it('keeps its size where definitions refer to one another', () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 100 }, (_, n) => [
        `d${n}`,
        { properties: { a: { $ref: `#/$defs/d${(n + 1) % 100}` }, b: { $ref: `#/$defs/d${(n + 7) % 100}` } } },
      ]),
    )
    expect(JSON.stringify(portableSchema({ type: 'object', $ref: '#/$defs/d0', $defs })).length).toBeLessThan(25_000)
  })
})

describe('portablePattern', () => {
  it.each([
    ['^[a-z]+$', '^[a-z]+$'],
    ['^\\d{3}[\\d-]*$', '^[0-9]{3}[0-9-]*$'],
    ['a\\/b[\\/]', 'a/b[/]'],
    ['^(?:a|b)$', '^(?:a|b)$'],
    ['\\\\d', '\\\\d'],
    ['[\\w.]+\\.', '[A-Za-z0-9_.]+\\.'],
    ['(?=a)b', undefined],
    ['(?<n>a)', undefined],
    ['\\p{L}', undefined],
    ['[^\\D]', undefined],
    ['[!-\\d]', undefined],
    ['\\u0041', undefined],
    ['^[\\w-.]+]$', '^[A-Za-z0-9_\\-.]+\\]$'],
  ])('writes %s as %s', (pattern, portable) => {
    expect(portablePattern(pattern)).toBe(portable)
  })
})
