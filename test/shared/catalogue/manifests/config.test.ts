import { describe, expect, it } from 'vitest'
import { defaultSettings, secretSettings, validateSettings } from '#shared/catalogue/manifests/config.ts'
import { validateManifest } from '#shared/catalogue/manifests/validate.ts'
import { anyContext, fullManifest, smallManifest } from './manifests.ts'

const { config } = fullManifest()

const errorsOf = (section: unknown) => validateManifest({ ...smallManifest(), config: section }, anyContext).errors

const paths = (section: unknown) => errorsOf(section).map(({ path }) => path.replace('/config', ''))

const setting = (description: unknown) => paths({ type: 'object', properties: { s: description } })

describe('the config section', () => {
  it.each([
    { type: 'string', format: 'email' },
    { type: 'number', exclusiveMinimum: 0 },
    { type: 'integer', multipleOf: 5, default: 10 },
    { type: 'boolean', default: false, description: 'd', title: 't' },
    { type: 'string', enum: ['a', 'b'], default: 'a', examples: ['b'] },
    { type: 'string', pattern: '^[a-z]+$', 'x-hint': { wide: true } },
  ])('accepts the setting %j', (description) => expect(setting(description)).toEqual([]))

  it.each<[unknown, string]>([
    [{ type: 'object' }, '/properties/s/type'],
    [{ type: ['string', 'null'] }, '/properties/s/type'],
    [{}, '/properties/s/type'],
    [true, '/properties/s'],
    [{ type: 'string', anyOf: [{}] }, '/properties/s/anyOf'],
    [{ type: 'string', $ref: '#/$defs/x' }, '/properties/s/$ref'],
    [{ type: 'string', default: 5 }, '/properties/s/default'],
    [{ type: 'string', enum: ['a'], default: 'b' }, '/properties/s/default'],
    [{ type: 'string', writeOnly: true, default: 'secret' }, '/properties/s/default'],
    [{ type: 'string', pattern: '(a|a)*$' }, '/properties/s/pattern'],
    [{ type: 'integer', minimum: 5, maximum: 4 }, '/properties/s/minimum'],
  ])('refuses the setting %j', (description, path) => expect(setting(description)).toEqual([path]))

  it('refuses anything but a flat form', () => {
    expect(paths({ properties: {} })).toEqual(['/type'])
    expect(paths({ type: 'object', additionalProperties: true })).toEqual(['/additionalProperties'])
    expect(paths({ type: 'object', anyOf: [{}] })).toEqual(['/anyOf'])
    expect(paths({ type: 'object', properties: {}, required: ['api_key'] })).toEqual(['/required/0'])
    expect(paths({ type: 'object', properties: { 'a b': { type: 'string' } } })).toEqual(['/properties/a b'])
    const properties = Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`s${index}`, { type: 'string' }]))
    expect(paths({ type: 'object', properties })).toEqual(['/properties'])
  })

  it('warns about an example that its setting would refuse', () => {
    const section = { type: 'object', properties: { s: { type: 'string', maxLength: 1, examples: ['a', 'ab'] } } }
    const { valid, warnings } = validateManifest({ ...smallManifest(), config: section }, anyContext)
    expect(valid).toBe(true)
    expect(warnings.map(({ path }) => path)).toEqual(['/config/properties/s/examples/1'])
  })
})

describe('validateSettings', () => {
  it('accepts valid settings and names every invalid one', () => {
    expect(validateSettings(config, { api_key: '12345678', region: 'us', limit: 1, verbose: true })).toEqual([])
    expect(validateSettings(config, { region: 'asia', limit: 1.5, other: 1 })).toEqual([
      { path: '/api_key', message: 'is required' },
      { path: '/region', message: 'must be one of "eu", "us"' },
      { path: '/limit', message: 'must be of type integer' },
      { path: '/other', message: 'is not expected here' },
    ])
  })

  it('accepts no settings where the manifest declares none', () => {
    expect(validateSettings(undefined, {})).toEqual([])
    expect(validateSettings(undefined, { a: 1 })).toHaveLength(1)
    expect(validateSettings(config, [])).not.toEqual([])
    expect(validateSettings(config, null)).not.toEqual([])
  })
})

it('distinguishes secrets and settings with defaults', () => {
  expect(secretSettings(config)).toEqual(['api_key'])
  expect(defaultSettings(config)).toEqual({ region: 'eu', limit: 5 })
  expect(secretSettings(undefined)).toEqual([])
  expect(defaultSettings(undefined)).toEqual({})
})
