import { randomBytes, randomUUID } from 'node:crypto'
import { startReceiver } from '#testkit/receiver.ts'
import { must } from '../e2e/support.ts'

/** Scopes of the caller, so that it is listed as many tools of the platform as possible. */
const SCOPES = [
  'workspace:read',
  'agents:read',
  'runs:read',
  'runs:write',
  'tasks:read',
  'tasks:write',
  'files:read',
  'files:write',
  'tools:invoke',
]

const NAME = { type: 'string' }

/** Valid schemas that a framework or a model's API is known to stop at, each of a tool that takes `name`. */
export const ODD_SCHEMAS: Readonly<Record<string, object>> = {
  look_ahead: { properties: { name: { type: 'string', pattern: '^(?!\\s)[\\w ]+$' } } },
  property_names: { properties: { name: NAME, headers: { type: 'object', propertyNames: { pattern: '^[a-z-]+$' } } } },
  pattern_properties: { properties: { name: NAME, labels: { type: 'object', patternProperties: { '^x-': NAME } } } },
  bare_object: {},
  list_of_types: { properties: { name: { type: ['string', 'null'] }, count: { type: ['integer', 'string'] } } },
  nested_bare: { properties: { name: NAME, options: { type: 'object' } } },
  no_type: { properties: { name: { description: 'Any value.' } } },
  email: { properties: { name: NAME, to: { type: 'string', format: 'email' } } },
  recursive: { properties: { name: NAME, children: { type: 'array', items: { $ref: '#' } } } },
  definitions: {
    properties: { name: { $ref: '#/$defs/who' } },
    $defs: { who: { type: 'string', title: 'Who' } },
  },
  union: {
    properties: {
      name: NAME,
      shape: {
        oneOf: [
          { type: 'object', properties: { kind: { const: 'circle' }, radius: { type: 'number' } }, required: ['kind'] },
          { type: 'object', properties: { kind: { const: 'square' }, side: { type: 'number' } }, required: ['kind'] },
        ],
        discriminator: { propertyName: 'kind' },
      },
    },
  },
  numbers: { properties: { name: NAME, level: { enum: [1, 2, null] }, exact: { const: 5 } } },
  conditions: {
    properties: { name: NAME },
    if: { required: ['name'] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { minProperties: 1 },
    dependentRequired: { name: [] },
  },
  tuple: {
    properties: {
      name: NAME,
      at: { type: 'array', prefixItems: [{ type: 'number' }, { type: 'number' }], items: false },
    },
  },
  draft_7: {
    $schema: 'http://json-schema.org/draft-07/schema#',
    properties: { name: NAME, at: { type: 'array', items: [{ type: 'number' }, { type: 'string' }] } },
  },
  record: { properties: { name: NAME, values: { type: 'object', additionalProperties: { type: 'number' } } } },
  annotated: {
    properties: { name: { ...NAME, example: 'Ada', examples: ['Ada'], 'x-order': 1, readOnly: true, nullable: true } },
  },
}

/** Publishes an agent whose slug begins with a digit and whose tools have odd schemas, and installs callers of it. */
export const startOddAgent = async (baseUrl: string) => {
  const server = await startReceiver()
  server.answer(async ({ body }) => {
    const { tool, run } = JSON.parse(body.toString())
    const output = { tool, greeting: `Hello, ${run.input.name}!` }
    return {
      kind: 'answer',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ status: 'succeeded', output }),
    }
  })
  const developer = await must(baseUrl, 'POST', '/api/v1/dev/register', {
    body: { email: `dev-${randomUUID()}@example.com`, name: 'Ada' },
  })
  const headers = { 'x-developer-key': developer.api_key as string }
  const unique = randomBytes(4).toString('hex')
  const install = async (slug: string, tools: object[]): Promise<string> => {
    const call = (to: string, body?: object) =>
      must(baseUrl, 'POST', `/api/v1/dev/apps${to}`, { headers, ...(body && { body }) })
    const app = await call('', { slug, name: `Agent ${slug}`, type: 'agent', requested_scopes: SCOPES })
    await call(`/${app.id}/versions`, {
      id: `vendor-${unique}.${slug}`,
      version: '1.0.0',
      name: 'Agent',
      summary: 'Has tools with odd schemas.',
      runtime: { type: 'webhook', endpoint: server.url },
      tools,
    })
    await call(`/${app.id}/versions/1.0.0/promote`)
    return (await call(`/${app.id}/sandbox-token`)).access_token
  }
  const slug = `7-odd-${unique}`
  await install(
    slug,
    Object.entries(ODD_SCHEMAS).map(([name, schema]) => ({
      name,
      description: `Greets, with a schema that has ${name.replaceAll('_', ' ')}.`,
      input_schema: { type: 'object', ...schema },
    })),
  )
  let callers = 0
  /** Installs another caller, which has a rate limit of its own, and returns its token. */
  const newCaller = () => install(`caller-${unique}-${++callers}`, [])
  return { slug, token: await newCaller(), newCaller, close: () => server.close() }
}
