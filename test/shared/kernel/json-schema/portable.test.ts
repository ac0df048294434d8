import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { withinBounds } from '#shared/kernel/json-schema/bounds.ts'
import { checkSchema, newCheck } from '#shared/kernel/json-schema/check-schema.ts'
import { validateAgainst } from '#shared/kernel/json-schema/evaluate.ts'
import { portableSchema } from '#shared/kernel/json-schema/portable.ts'
import { portablePattern } from '#shared/kernel/json-schema/portable-pattern.ts'
import { faultsOf } from './portable-faults.ts'

type Json = Record<string, unknown>

const DIALECTS = {
  draft7: 'http://json-schema.org/draft-07/schema#',
  'draft2019-09': 'https://json-schema.org/draft/2019-09/schema',
  'draft2020-12': 'https://json-schema.org/draft/2020-12/schema',
}

describe('portableSchema', () => {
  it.each(Object.entries(DIALECTS))(
    'accepts every value that the schema accepts, and has no part that isn’t portable: JSON Schema Test Suite, %s',
    (name, $schema) => {
      const file = new URL(`../../../vectors/json-schema-test-suite/${name}.json`, import.meta.url)
      const groups = Object.entries(JSON.parse(readFileSync(file, 'utf8')) as Record<string, Json[]>)
      const tighter: string[] = []
      const faults: string[] = []
      let projected = 0
      for (const [at, list] of groups)
        for (const { description, schema, tests } of list) {
          if (typeof schema !== 'object') continue
          const whole = { $schema, ...schema }
          const check = newCheck()
          checkSchema(check, whole, '')
          const isIn = withinBounds(whole, { depth: 64, nodes: 20_000, characters: 1_000_000 }).list.length === 0
          if (check.errors.list.length > 0 || !isIn) continue
          const portable = portableSchema(whole)
          projected += 1
          faults.push(...faultsOf(portable).map((fault) => `${at}: ${description}: ${fault}`))
          for (const test of tests as { description: string; data: unknown }[])
            if (validateAgainst(whole, test.data).length === 0 && validateAgainst(portable, test.data).length > 0)
              tighter.push(`${at}: ${description}: ${test.description}`)
        }
      expect(tighter).toEqual([])
      expect(faults).toEqual([])
      expect(projected).toBeGreaterThan(180)
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
        pair: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'integer' }], maxItems: 2 },
        size: { enum: ['s', 'm'], description: 'How large.' },
        map: { type: 'object', properties: {}, additionalProperties: { type: 'number' } },
        pet: { anyOf: [{ type: 'object', properties: {} }, {}] },
        root: { $ref: '#/$defs/Node' },
      },
      required: ['code'],
      additionalProperties: false,
      $defs: { Node: { type: 'object', properties: { next: { $ref: '#/$defs/Node' } } } },
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
    const types = ['string', 'number', 'boolean', 'object', 'array', 'null']
    const properties = {
      any: { anyOf: types.map((type) => ({ type, ...(type === 'object' && { properties: {} }) })) },
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

  it('keeps its size where definitions refer to one another', () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 100 }, (_, n) => [
        `d${n}`,
        { properties: { a: { $ref: `#/$defs/d${(n + 1) % 100}` }, b: { $ref: `#/$defs/d${(n + 7) % 100}` } } },
      ]),
    )
    expect(JSON.stringify(portableSchema({ type: 'object', $ref: '#/$defs/d0', $defs })).length).toBeLessThan(20_000)
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
  ])('writes %s as %s', (pattern, portable) => {
    expect(portablePattern(pattern)).toBe(portable)
  })
})
