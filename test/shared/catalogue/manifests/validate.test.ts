import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ManifestContext } from '#shared/catalogue/manifests/rules.ts'
import { validateManifest } from '#shared/catalogue/manifests/validate.ts'
import { anyContext, fullManifest, smallManifest } from './manifests.ts'

const paths = (input: unknown, context: ManifestContext = anyContext): string[] =>
  validateManifest(input, context).errors.map(({ path }) => path)

describe('validateManifest', () => {
  it('accepts a manifest with every part and returns it unchanged', () => {
    const report = validateManifest(fullManifest(), anyContext)
    expect(report).toEqual({ valid: true, errors: [], warnings: [], manifest: fullManifest() })
  })

  it('accepts the smallest manifest and an inline one', () => {
    expect(validateManifest(smallManifest(), anyContext).valid).toBe(true)
    const runtime = { type: 'inline', instructions: 'Be brief.', model: 'small', max_steps: 8 }
    expect(validateManifest({ ...smallManifest(), runtime }, anyContext).errors).toEqual([])
  })

  it('warns of arguments whose names models and clients aren’t shown', () => {
    const properties = { name: {}, größe: {}, 'user.name': {} }
    const tools = [{ name: 'look', description: 'Looks.', input_schema: { type: 'object', properties } }]
    const { valid, warnings } = validateManifest({ ...smallManifest(), tools }, anyContext)
    expect([valid, warnings.map(({ path }) => path)]).toEqual([
      true,
      ['/tools/0/input_schema/properties/größe', '/tools/0/input_schema/properties/user.name'],
    ])
  })

  it('refuses proposed schedules that couldn’t be created, with the reason', () => {
    const start = { tool: 'check_stock', arguments: { sku: 'mug' } }
    const errorsOf = (...schedules: object[]) =>
      validateManifest({ ...fullManifest(), schedules }, anyContext).errors.map((one) => `${one.path} ${one.message}`)
    const one = (fields: object) => ({ key: 'a', name: 'A', when: { every: 'P1D' }, start, ...fields })
    expect(errorsOf(one({}), one({}))).toEqual([expect.stringMatching(/^\/schedules\/1\/key .*also has/)])
    for (const [fields, error] of [
      [{ when: { cron: '0 9 31 2 *' } }, /^\/schedules\/0\/when\/cron .*never fires/],
      [{ when: { cron: '0 9 * * *', time_zone: 'Mars/Base' } }, /^\/schedules\/0\/when\/time_zone .*time zone/],
      [{ when: { every: 'PT1S' } }, /^\/schedules\/0\/when\/every .*PT1M/],
      [{ when: { every: 'PT1H', time_zone: 'UTC' } }, /^\/schedules\/0\/when\/time_zone Only cron/],
      [{ when: {} }, /^\/schedules\/0\/when .*exactly one/],
      [{ start: {} }, /^\/schedules\/0\/start .*exactly one/],
      [{ start: { tool: 'gone' } }, /^\/schedules\/0\/start\/tool .*no tool "gone"/],
      [{ start: { tool: 'check_stock' } }, /^\/schedules\/0\/start\/arguments\/sku .*is required/],
      [{ start: { input: { a: 'x'.repeat(20_000) } } }, /^\/schedules\/0\/start .*bytes/],
    ] as const)
      expect(errorsOf(one(fields)), JSON.stringify(fields).slice(0, 80)).toEqual([expect.stringMatching(error)])
    // A vendor’s words aren’t sent as a person’s.
    expect(errorsOf(one({ start: { message: 'Hello' } }))).toContainEqual(
      expect.stringContaining('/schedules/0/start/message'),
    )
  })

  it('reports every error of every part at once, each with a pointer, a message and a fix', () => {
    const { errors, valid, manifest } = validateManifest(
      {
        ...fullManifest(),
        id: 'Acme',
        version: 'v1',
        name: ' ',
        nmae: 'x',
        runtime: { type: 'webhook', endpoint: 'http://10.0.0.1/', resum: true },
        tools: [
          { name: '1', input_schema: { type: 'string', properties: { a: { pattern: '(a+)+$' } } } },
          {
            name: 'b',
            description: 'd',
            input_schema: { type: 'object', properties: { a: { $ref: 'https://x' } } },
            mcp: { task: 'maybe', requires: ['prompts'], annotations: { readonlyHint: true } },
          },
        ],
        config: {
          type: 'object',
          properties: {
            s: { type: 'string', writeOnly: true, default: 'x' },
            o: { type: 'object' },
            n: { type: 'integer', default: 1.5 },
          },
        },
        scopes: ['run:read', 'runs:read', 'runs:read'],
        surface: {},
      },
      anyContext,
    )
    expect(valid).toBe(false)
    expect(manifest).toBeUndefined()
    expect(errors.map(({ path }) => path)).toEqual([
      '/config/properties/n/default',
      '/config/properties/o/type',
      '/config/properties/s/default',
      '/id',
      '/name',
      '/nmae',
      '/runtime/endpoint',
      '/runtime/resum',
      '/scopes/0',
      '/scopes/2',
      '/surface/url',
      '/tools/0/description',
      '/tools/0/input_schema/properties/a/pattern',
      '/tools/0/input_schema/type',
      '/tools/0/name',
      '/tools/1/input_schema/properties/a/$ref',
      '/tools/1/mcp/annotations/readonlyHint',
      '/tools/1/mcp/requires/0',
      '/tools/1/mcp/task',
      '/version',
    ])
    for (const { message, fix } of errors) {
      expect(message).toMatch(/\.$/)
      expect(fix).toMatch(/[.?]$/)
    }
    expect(errors.find(({ path }) => path === '/nmae')?.fix).toBe('Did you mean "name"?')
    expect(errors.find(({ path }) => path === '/scopes/0')?.fix).toBe('Did you mean "runs:read"?')
  })

  it.each([
    null,
    true,
    7,
    'text',
    [],
    {},
    { runtime: null },
    { runtime: { type: 'other' } },
    { tools: {}, config: [], scopes: 'x' },
  ])('returns errors for %j', (input) => {
    const { valid, errors } = validateManifest(input, anyContext)
    expect(valid).toBe(false)
    expect(errors.length).toBeGreaterThan(0)
  })

  it.each(['1.0', '1', 'v1.0.0', '01.0.0', '1.0.0-01', '1.0.0-', '1.0.0+', '1.0.0.0', ' 1.0.0', '1.0.0\n', ''])(
    'refuses the version %j, which semver.org doesn’t allow',
    (version) => expect(paths({ ...smallManifest(), version })).toEqual(['/version']),
  )

  it.each([
    'acme',
    'acme.',
    '.x',
    'acme.ab',
    'Acme.stock',
    'acme.stock.helper',
    'acme.-stock',
    'acme.stock-',
    'a.stock',
    'acme/stock',
    `acme.${'a'.repeat(41)}`,
  ])('refuses the id %j', (id) => expect(paths({ ...smallManifest(), id })).toEqual(['/id']))

  it('compares the id with the app’s slug and the developer’s vendor', () => {
    const app = { slug: 'other', requested_scopes: [] }
    expect(paths(smallManifest(), { ...anyContext, app })).toEqual(['/id'])
    expect(paths(smallManifest(), { ...anyContext, vendor: 'globex' })).toEqual(['/id'])
    expect(paths(smallManifest(), { ...anyContext, vendor: 'acme', app: { ...app, slug: 'stock-helper' } })).toEqual([])
  })

  it('limits scopes to the app’s, where a write scope covers its read scope', () => {
    const app = { slug: 'stock-helper', requested_scopes: ['runs:write'] }
    const scopes = ['runs:read', 'runs:write', 'files:read']
    expect(paths({ ...smallManifest(), scopes }, { ...anyContext, app })).toEqual(['/scopes/2'])
  })

  it('refuses forbidden addresses with the guard’s reason, also when the guard throws', () => {
    const guard = { ...anyContext, checkUrl: () => 'it is loopback' }
    const { errors } = validateManifest(fullManifest(), guard)
    expect(errors.map(({ path }) => path)).toEqual(['/runtime/endpoint', '/surface/url'])
    expect(errors[0]?.message).toContain('it is loopback')
    const broken = { ...anyContext, checkUrl: (url: string) => new URL(url).hostname && undefined }
    expect(paths({ ...smallManifest(), runtime: { type: 'webhook', endpoint: 'nonsense' } }, broken)).toEqual([
      '/runtime/endpoint',
    ])
  })

  it('refuses fields of the other kind of runtime', () => {
    const runtime = { type: 'inline', instructions: 'x', endpoint: 'https://agent.example.com' }
    expect(paths({ ...smallManifest(), runtime })).toEqual(['/runtime/endpoint'])
  })

  it('refuses tools with the same name and more than 100 tools', () => {
    const tool = (name: string) => ({ name, description: 'd', input_schema: { type: 'object' } })
    expect(paths({ ...smallManifest(), tools: [tool('a'), tool('b'), tool('a')] })).toEqual(['/tools/2/name'])
    const many = Array.from({ length: 101 }, (_, index) => tool(`t${index}`))
    expect(paths({ ...smallManifest(), tools: many })).toEqual(['/tools'])
    expect(paths({ ...smallManifest(), tools: many.slice(1) })).toEqual([])
  })
})

describe('validateManifest with hostile input', () => {
  const nested = (levels: number): unknown => JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`)
  const withSchema = (input_schema: unknown) => ({
    ...smallManifest(),
    tools: [{ name: 't', description: 'd', input_schema }],
  })
  const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`key${index}`, 1]))
  const deepSchema = (levels: number): unknown =>
    JSON.parse(`${'{"properties":{"a":'.repeat(levels)}{}${'}}'.repeat(levels)}`)

  it.each<[string, () => unknown]>([
    ['100,000 levels of nesting', () => nested(100_000)],
    ['a schema with 30 levels', () => withSchema(deepSchema(30))],
    ['a schema with 5,000 levels', () => withSchema(deepSchema(5_000))],
    ['15,000 unknown fields', () => keys(15_000)],
    ['200,000 unknown fields', () => keys(200_000)],
    ['15,000 unknown keywords without a type', () => withSchema(keys(15_000))],
    ['15,000 properties', () => withSchema({ type: 'object', properties: keys(15_000) })],
    ['15,000 tools', () => ({ ...smallManifest(), tools: Array(15_000).fill({}) })],
    ['10,000 scopes', () => ({ ...smallManifest(), scopes: Array(10_000).fill('runs:raed') })],
    ['a million characters', () => ({ ...smallManifest(), name: 'x'.repeat(1_000_000) })],
    ['a long version', () => ({ ...smallManifest(), version: `1.0.0-${'0'.repeat(200_000)}` })],
    ['a long id', () => ({ ...smallManifest(), id: 'a-'.repeat(100_000) })],
    ['a long key', () => ({ ...smallManifest(), ['k'.repeat(200_000)]: 1 })],
    ['a __proto__ field', () => JSON.parse('{"__proto__":{"id":"acme.stock-helper"}}')],
    ['a __proto__ property', () => withSchema(JSON.parse('{"type":"object","properties":{"__proto__":{}}}'))],
    ['half of a surrogate pair', () => ({ ...smallManifest(), name: '\ud800' })],
    ['half of a surrogate pair in a key', () => withSchema({ type: 'object', properties: { '\udfff': {} } })],
    [
      '200 catastrophic patterns',
      () =>
        withSchema({
          type: 'object',
          properties: Object.fromEntries(
            Array.from({ length: 200 }, (_, index) => [`p${index}`, { pattern: `${'(.*)'.repeat(30)}${index}` }]),
          ),
        }),
    ],
    ['a remote reference', () => withSchema({ type: 'object', $ref: 'http://169.254.169.254/latest' })],
    [
      'a default that contradicts its pattern',
      () => ({
        ...smallManifest(),
        config: {
          type: 'object',
          properties: { a: { type: 'string', pattern: '(x+x+)+y', default: 'x'.repeat(5_000) } },
        },
      }),
    ],
  ])('refuses %s quickly, in a small answer', (_, make) => {
    const input = make()
    const start = process.threadCpuUsage()
    const report = validateManifest(input, anyContext)
    // CPU time of this thread, independent of other load on the machine.
    expect(process.threadCpuUsage(start).user / 1_000).toBeLessThan(3_000)
    expect(report.valid).toBe(false)
    expect(report.errors.length).toBeLessThanOrEqual(201)
    expect(JSON.stringify(report).length).toBeLessThan(200_000)
  })

  it('treats inherited names such as constructor and toString like others', () => {
    const properties = { constructor: { type: 'string' }, toString: { type: 'string' } }
    expect(paths(withSchema({ type: 'object', properties, required: ['constructor'] }))).toEqual([])
    expect(paths({ ...smallManifest(), constructor: 1 })).toEqual(['/constructor'])
    expect(paths({ ...smallManifest(), scopes: ['constructor'] })).toEqual(['/scopes/0'])
  })

  it('answers for any JSON value', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        expect(validateManifest(value, anyContext).valid).toBe(false)
      }),
    )
  })

  it('points only to the changed place when any one place of a valid manifest has any value', () => {
    const places = ['id', 'version', 'name', 'summary', 'runtime', 'tools', 'config', 'scopes', 'surface'] as const
    fc.assert(
      fc.property(fc.constantFrom(...places), fc.jsonValue({ maxDepth: 4 }), (place, value) => {
        const { valid, errors } = validateManifest({ ...fullManifest(), [place]: value }, anyContext)
        expect(valid).toBe(errors.length === 0)
        for (const { path } of errors) expect(path === '' || path.startsWith(`/${place}`)).toBe(true)
      }),
    )
  })
})
