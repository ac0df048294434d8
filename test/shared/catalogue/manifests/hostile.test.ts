import { describe, expect, it } from 'vitest'
import { validateSettings } from '#shared/catalogue/manifests/config.ts'
import { validateManifest } from '#shared/catalogue/manifests/validate.ts'
import { timed } from '#testkit/cpu.ts'
import { anyContext, smallManifest } from './manifests.ts'

/** Far more time than any of them takes, and far less than a hostile one could take. */
const A_MOMENT = 1_500

const LONG = `${'a'.repeat(30_000)}!`

const many = (count: number, entry: (n: number) => [string, unknown]): Record<string, unknown> =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => entry(n)))

const nested = (levels: number, around: (inner: unknown) => unknown, core: unknown = {}): unknown =>
  Array.from({ length: levels }).reduce<unknown>((inner) => around(inner), core)

const form = (properties: unknown, more: object = {}) => ({ type: 'object', properties, ...more })

const text = (more: object) => form({ a: { type: 'string', ...more } })

const check = (config: unknown) => timed(() => validateManifest({ ...smallManifest(), config }, anyContext))

describe('a hostile config is refused quickly', () => {
  it.each<[string, unknown]>([
    [
      'thousands of required names like those of its settings',
      form(
        many(50, (n) => [`${'p'.repeat(30)}${n}`, { type: 'string' }]),
        { required: Array.from({ length: 5_000 }, (_, n) => `${'p'.repeat(29)}${n}`) },
      ),
    ],
    ['thousands of required names', form({}, { required: Array.from({ length: 19_000 }, (_, n) => `name_${n}`) })],
    ['the same required name, thousands of times', form({}, { required: Array(9_000).fill('a') })],
    ['thousands of keywords', many(9_000, (n) => [`keyword${n}`, 1])],
    ['thousands of keywords in one setting', text(many(9_000, (n) => [`typ${n}`, 1]))],
    ['thousands of settings', form(many(4_000, (n) => [`k${n}`, { type: 'string' }]))],
    ['an enum of thousands of values', text({ enum: Array.from({ length: 15_000 }, (_, n) => `e${n}`) })],
    ['a nested repeat', text({ pattern: '^(a+)+$' })],
    ['equal alternatives', text({ pattern: '^(a|a)*$' })],
    ['adjacent repeats', text({ pattern: '^a*a*a*a*$' })],
    ['nested counted repeats', text({ pattern: '^((a{1,99}){1,99}){1,99}$' })],
    ['a back-reference', text({ pattern: '^(a*)\\1$' })],
    ['a lookahead', text({ pattern: '^(?=(a+)+$)' })],
    ['a lookbehind', text({ pattern: '(?<=a+)b' })],
    ['an invalid pattern', text({ pattern: '(' })],
    ['a pattern of names', { type: 'object', patternProperties: { '(a+)+$': { type: 'string' } } }],
    ['a remote reference', text({ $ref: 'https://evil.example/schema.json' })],
    ['a reference to a file', text({ $ref: 'file:///etc/passwd' })],
    ['a reference to itself', text({ $ref: '#' })],
    ['a dynamic reference', text({ $dynamicRef: '#x' })],
    ['an id of its own', { ...form({}), $id: 'https://evil.example/' }],
    ['another dialect', { ...form({}), $schema: 'https://evil.example/meta' }],
    [
      'definitions that double each other',
      {
        ...text({ $ref: '#/$defs/d0' }),
        $defs: many(30, (n) => [`d${n}`, { anyOf: [{ $ref: `#/$defs/d${n + 1}` }, { $ref: `#/$defs/d${n + 1}` }] }]),
      },
    ],
    ['allOf in allOf', text({ allOf: nested(12, (inner) => [{ allOf: inner }, { allOf: inner }], [{}]) })],
    ['schemas thousands of levels deep', form({ a: nested(3_000, (inner) => ({ properties: { a: inner } })) })],
    ['a note nested too deeply', text({ 'x-note': nested(100, (inner) => [inner]) })],
    ['a form in a form', form({ a: form({ b: { type: 'string' } }) })],
    ['a list as a setting', form({ a: { type: 'array', items: { type: 'string' } } })],
    ['several types for one setting', form({ a: { type: ['string', 'object'] } })],
    ['a setting without a type', form({ a: {} })],
    ['a setting of any type', form({ a: true })],
    ['undescribed settings', { ...form({}), additionalProperties: { type: 'string' } }],
    ['__proto__ as a setting', JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}}}')],
    ['__proto__ of the config', JSON.parse('{"type":"object","__proto__":{"properties":{}}}')],
    ['an inherited name that is required', form({ a: { type: 'string' } }, { required: ['toString'] })],
    ['a secret with a default', text({ writeOnly: true, default: 'sk-live' })],
    ['a secret that the manifest reveals', text({ writeOnly: true, const: 'sk-live' })],
    ['a secret from a public list', text({ writeOnly: true, enum: ['sk-live'] })],
    ['a default that isn’t a scalar', text({ default: { b: 1 } })],
    ['a list', []],
    ['a text', 'object'],
  ])('%s', (_what, config) => {
    const { valid, errors, ms } = check(config)
    expect(valid).toBe(false)
    expect(errors.length).toBeGreaterThan(0)
    expect(JSON.stringify(errors).length).toBeLessThan(200_000)
    for (const { message, fix } of errors) expect([message, fix].every(Boolean)).toBe(true)
    expect(ms).toBeLessThan(A_MOMENT)
  })
})

describe('values for an unusual but valid config are checked quickly', () => {
  it.each<[string, object, unknown, string[]]>([
    [
      'names that every object inherits',
      form(
        { constructor: { type: 'string' }, toString: { type: 'string' } },
        { required: ['constructor', 'toString'] },
      ),
      {},
      ['/constructor', '/toString'],
    ],
    [
      'hasOwnProperty as a setting',
      form({ hasOwnProperty: { type: 'string' } }, { required: ['hasOwnProperty'] }),
      { hasOwnProperty: 'x' },
      [],
    ],
    ['a long text for a pattern', text({ pattern: '^[a-z]+b$' }), { a: LONG }, ['/a']],
    [
      'fifty patterns',
      form(many(50, (n) => [`a${n}`, { type: 'string', pattern: `^[ab]*a[ab]{${n % 20}}$` }])),
      { a0: 'ab'.repeat(200) },
      ['/a0'],
    ],
    ['the smallest divisor', form({ a: { type: 'number', multipleOf: 5e-324 } }), { a: 'x' }, ['/a']],
    ['an unreachable length', text({ minLength: 1e15 }), { a: 'x' }, ['/a']],
    [
      '500 long choices',
      text({ enum: Array.from({ length: 500 }, (_, n) => 'e'.repeat(400) + n) }),
      { a: 'x' },
      ['/a'],
    ],
    ['values thousands of levels deep', text({}), { a: nested(5_000, (inner) => [inner]) }, ['']],
    ['thousands of values', text({}), many(9_000, (n) => [`k${n}`, 1]), ['']],
  ])('%s', (_what, config, values, paths) => {
    expect(check(config)).toMatchObject({ valid: true })
    const { found, ms } = timed(() => ({ found: validateSettings(config as Record<string, unknown>, values) }))
    expect(ms).toBeLessThan(A_MOMENT)
    if (paths[0] === '') expect(found.length).toBeGreaterThan(0)
    else expect(found.map(({ path }) => path)).toEqual(paths)
  })
})

it('a tool whose schema requires thousands of names is refused quickly', () => {
  const input_schema = { type: 'object', required: Array.from({ length: 15_000 }, (_, n) => `name_${n}`) }
  const tools = [{ name: 'count', description: 'Counts.', input_schema }]
  const { valid, errors, ms } = timed(() => validateManifest({ ...smallManifest(), tools }, anyContext))
  expect([valid, errors[0]?.path]).toEqual([false, '/tools/0/input_schema/required'])
  expect(ms).toBeLessThan(A_MOMENT)
})
