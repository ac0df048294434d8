import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkRequiredAndTopLevelTypes } from '#shared/kernel/json-schema/arguments.ts'
import { validateAgainst } from '#shared/kernel/json-schema/evaluate.ts'
import { byField } from '#shared/kernel/json-schema/finding.ts'
import { cpuMs } from '#testkit/cpu.ts'

const order = {
  type: 'object',
  properties: {
    email: { type: 'string', format: 'email', maxLength: 40 },
    count: { type: 'integer', minimum: 1, multipleOf: 2 },
    'a/b': { enum: ['x', 'y,z'] },
    line: { $ref: '#/$defs/Line' },
    either: { oneOf: [{ type: 'string' }, { type: 'number' }] },
  },
  required: ['email', 'toString'],
  additionalProperties: false,
  $defs: { Line: { type: 'object', properties: { sku: { type: 'string', pattern: '^[A-Z]+$' } }, required: ['sku'] } },
}

describe('validateAgainst', () => {
  it('reports every mismatch with its pointer, in words that follow the name', () => {
    const value = { email: 'nobody', count: 1, 'a/b': 'z', line: { sku: 'a' }, either: true, extra: 1 }
    expect(validateAgainst(order, value)).toEqual([
      { path: '/toString', message: 'is required' },
      { path: '/email', message: 'is not a valid email' },
      { path: '/count', message: 'must be a multiple of 2' },
      { path: '/a~1b', message: 'must be one of "x", "y,z"' },
      { path: '/line/sku', message: 'does not match the pattern ^[A-Z]+$' },
      { path: '/either', message: 'must match exactly one of the allowed forms' },
      { path: '/extra', message: 'is not expected here' },
    ])
  })

  it('finds nothing where the value matches', () => {
    expect(validateAgainst(order, { email: 'a@b.co', toString: 1 })).toHaveLength(1)
    const { required: _, ...open } = order
    expect(validateAgainst(open, { email: 'a@b.co', count: 2, line: { sku: 'A' }, either: 1 })).toEqual([])
    expect(validateAgainst(true, 1)).toEqual([])
  })

  it('never repeats the value, which may be a secret', () => {
    const schema = {
      type: 'object',
      properties: { key: { type: 'string', pattern: '^sk-', maxLength: 5, enum: ['sk-1'] } },
    }
    expect(JSON.stringify(validateAgainst(schema, { key: 'hunter2-hunter2' }))).not.toContain('hunter2')
  })

  it('doesn’t match a text that is too long for its pattern', async () => {
    const schema = { type: 'string', pattern: '^\\S+@\\S+\\.\\S+$' }
    const ms = await cpuMs(() => {
      expect(validateAgainst(schema, '@.'.repeat(50_000))).toEqual([
        { path: '', message: expect.stringMatching(/^is longer than \d+ characters$/) },
      ])
      expect(validateAgainst({ type: 'string', pattern: '(a+)+$' }, `${'a'.repeat(50)}!`)).toHaveLength(1)
    })
    expect(ms).toBeLessThan(500)
  })

  it('answers for any value, including hostile ones', () => {
    let deep: unknown = []
    for (let level = 0; level < 50_000; level += 1) deep = [deep]
    const wide = Array.from({ length: 100_000 }, (_, index) => index)
    for (const value of [deep, wide, JSON.parse('{"__proto__": 1}'), '\ud800', { '\ud800': 1 }])
      expect(validateAgainst({ type: 'array', uniqueItems: true }, value)).not.toEqual([])
    fc.assert(
      fc.property(
        fc.anything({ withNullPrototype: false }).map((value) => JSON.parse(JSON.stringify(value) ?? 'null')),
        (value) => void validateAgainst(order, value),
      ),
    )
  })
})

describe('checkRequiredAndTopLevelTypes', () => {
  it('checks the required list and the top-level types, following a reference', () => {
    expect(checkRequiredAndTopLevelTypes(order, { count: 1.5, line: 'x', email: 'not checked further' })).toEqual([
      { path: '/toString', message: 'is required' },
      { path: '/count', message: 'must be of type integer' },
      { path: '/line', message: 'must be of type object' },
    ])
  })

  it('leaves everything deeper, and unknown properties, to the target', () => {
    expect(checkRequiredAndTopLevelTypes(order, { email: '', toString: 1, line: { sku: 7 }, more: 1 })).toEqual([])
  })

  it('accepts integral numbers for integers, and any of several types', () => {
    const schema = { properties: { n: { type: 'integer' }, s: { type: ['string', 'null'] }, a: { type: 'array' } } }
    expect(checkRequiredAndTopLevelTypes(schema, { n: 2.0, s: null, a: [] })).toEqual([])
    expect(checkRequiredAndTopLevelTypes(schema, { n: '2', s: 1, a: {} }).map(({ path }) => path)).toEqual([
      '/n',
      '/s',
      '/a',
    ])
  })

  it.each([[null], [[]], ['x'], [1], [undefined]])('refuses %j as arguments', (args) => {
    expect(checkRequiredAndTopLevelTypes(order, args)).toEqual([{ path: '', message: 'must be an object' }])
  })
})

describe('byField', () => {
  it('turns pointers into the field names of details.fields', () => {
    const mismatches = [
      { path: '/a/0/b~1c', message: 'is required' },
      { path: '/a/0/b~1c', message: 'is odd' },
    ]
    expect(byField(mismatches)).toEqual({ 'a.0.b/c': ['is required', 'is odd'] })
  })
})
