import { describe, expect, it } from 'vitest'
import { checkSchema, newCheck } from '#shared/kernel/json-schema/check-schema.ts'
import { cpuMs } from '#testkit/cpu.ts'

const findings = (schema: unknown) => {
  const check = newCheck()
  checkSchema(check, schema, '/tools/0/input_schema')
  return { errors: check.errors.list, warnings: check.warnings.list }
}
const paths = (schema: unknown): string[] =>
  findings(schema).errors.map(({ path }) => path.replace('/tools/0/input_schema', ''))

describe('checkSchema', () => {
  it('accepts the output of schema generators', () => {
    const schema = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      title: 'Order',
      properties: {
        id: { type: 'string', format: 'uuid' },
        lines: { type: 'array', items: { $ref: '#/$defs/Line' }, minItems: 1, maxItems: 50 },
        note: { anyOf: [{ type: 'string', maxLength: 200 }, { type: 'null' }], default: null },
        kind: { enum: ['a', 'b'], description: 'Kind' },
        when: { type: ['string', 'null'], format: 'date-time' },
        more: { type: 'object', additionalProperties: { type: 'number' } },
        pair: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'integer' }], items: false },
        'x-y': true,
      },
      required: ['id', 'lines'],
      additionalProperties: false,
      'x-internal': { anything: 1 },
      $defs: { Line: { type: 'object', properties: { sku: { type: 'string', pattern: '^[A-Z]{3}-\\d+$' } } } },
    }
    expect(findings(schema)).toEqual({ errors: [], warnings: [] })
  })

  it('names every error with its pointer and a fix', () => {
    const { errors } = findings({
      type: 'strng',
      requird: [],
      properties: { 'a/b': { minLength: -1, pattern: '(a+)+$' }, c: 5 },
      anyOf: [],
      if: 1,
      $dynamicRef: '#a',
      multipleOf: 0,
    })
    expect(errors.map(({ path }) => path.replace('/tools/0/input_schema', ''))).toEqual([
      '/type',
      '/properties/a~1b/minLength',
      '/properties/a~1b/pattern',
      '/properties/c',
      '/anyOf',
      '/if',
      '/$dynamicRef',
      '/multipleOf',
    ])
    for (const { message, fix } of errors) {
      expect(message).not.toBe('')
      expect(fix).not.toBe('')
    }
    expect(findings({ type: 'object', requird: [] }).warnings[0]?.fix).toBe('Did you mean "required"?')
  })

  it.each([
    ['https://evil.example/schema.json'],
    ['//evil.example/schema.json'],
    ['file:///etc/passwd'],
    ['#anchor'],
    ['#/properties/%'],
    ['#/default'],
    ['other.json#/$defs/a'],
    [7],
  ])('refuses the reference %s, which leaves the schema’s own parts', ($ref) => {
    expect(paths({ type: 'object', properties: { a: { $ref } }, default: {} })).toEqual(['/properties/a/$ref'])
  })

  it('refuses a reference to nothing, to an inherited name, and to itself without going into a value', () => {
    expect(paths({ $ref: '#/$defs/missing', $defs: {} })).toEqual(['/$ref'])
    expect(paths({ $ref: '#/$defs/constructor', $defs: {} })).toEqual(['/$ref'])
    expect(paths({ $ref: '#' })).toEqual(['/$ref'])
    expect(paths({ $defs: { a: { anyOf: [{ type: 'null' }, { $ref: '#/$defs/a' }] } } })).toEqual([
      '/$defs/a/anyOf/1/$ref',
    ])
    expect(paths({ $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } })).toHaveLength(1)
  })

  it('accepts recursion that goes into the value, and pointers to any part of the schema', () => {
    for (const schema of [
      { type: 'object', properties: { child: { $ref: '#' } } },
      { $ref: '#/$defs/a', $defs: { a: { items: { $ref: '#/$defs/a' } } } },
      { properties: { 'a/b c': { type: 'string' }, d: { $ref: '#/properties/a~1b%20c' } } },
      { anyOf: [{ type: 'array', items: { $ref: '#/anyOf/1' } }, { type: 'string' }] },
    ])
      expect(findings(schema)).toEqual({ errors: [], warnings: [] })
  })

  it('accepts annotations that it doesn’t check, and names each in a warning', () => {
    const schema = { nullable: true, discriminator: {}, example: 1, contentEncoding: 'base64', format: 'url', note: 1 }
    const { errors, warnings } = findings(schema)
    expect(errors).toEqual([])
    expect(warnings.map(({ path }) => path.replace('/tools/0/input_schema/', ''))).toEqual(Object.keys(schema))
    expect(warnings[0]?.fix).toContain('null is refused')
  })

  it('reads a list in items by the dialect that the schema names', () => {
    const tuple = { type: 'array', items: [{ type: 'string' }], additionalItems: false }
    expect(findings({ $schema: 'http://json-schema.org/draft-07/schema#', ...tuple })).toEqual({
      errors: [],
      warnings: [],
    })
    expect(findings(tuple)).toMatchObject({ errors: [], warnings: [{ path: '/tools/0/input_schema/items' }] })
    expect(paths({ $schema: 'https://json-schema.org/draft/2020-12/schema', ...tuple })).toEqual(['/items'])
  })

  it('refuses a schema that needs a name which no value may have', () => {
    expect(paths({ required: ['__proto__'] })).toEqual(['/required'])
    expect(paths({ required: ['a'.repeat(257)] })).toEqual(['/required'])
    expect(paths({ dependentRequired: { a: ['__proto__'] } })).toEqual(['/dependentRequired/a'])
  })

  it('refuses definitions that multiply each other', async () => {
    const $defs: Record<string, unknown> = { d0: { type: 'string' } }
    for (let level = 1; level <= 40; level += 1)
      $defs[`d${level}`] = { anyOf: [{ $ref: `#/$defs/d${level - 1}` }, { $ref: `#/$defs/d${level - 1}` }] }
    const ms = await cpuMs(() => expect(paths({ $ref: '#/$defs/d40', $defs })).toEqual(['']))
    expect(ms).toBeLessThan(500)
  })

  it('refuses nesting that is too deep, too many branches and too many properties', () => {
    let deep: unknown = {}
    for (let level = 0; level < 40; level += 1) deep = { items: deep }
    expect(findings(deep).errors[0]?.message).toContain('deeper')
    expect(paths({ anyOf: Array.from({ length: 21 }, () => ({})) })).toEqual(['/anyOf'])
    const properties = Object.fromEntries(Array.from({ length: 201 }, (_, index) => [`p${index}`, {}]))
    expect(paths({ properties })).toEqual(['/properties'])
  })

  it('bounds the time that many slow patterns take', async () => {
    const slow = `${'(.*)'.repeat(30)}$`
    const properties = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`p${index}`, { pattern: slow }]))
    const ms = await cpuMs(() => expect(paths({ properties })).toHaveLength(200))
    expect(ms).toBeLessThan(5_000)
  })

  it('warns about formats that it doesn’t check', () => {
    expect(findings({ format: 'base32' })).toMatchObject({
      errors: [],
      warnings: [{ path: '/tools/0/input_schema/format' }],
    })
  })

  it('reports when no value can match', () => {
    expect(paths({ minimum: 3, maximum: 2 })).toEqual(['/minimum'])
    expect(paths({ properties: { name: {} }, required: ['nmae'], additionalProperties: false })).toEqual([
      '/required/0',
    ])
    expect(findings({ properties: { name: {} }, required: ['nmae'] }).warnings[0]?.fix).toBe('Did you mean "name"?')
  })
})
