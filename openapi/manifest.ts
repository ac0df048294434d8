import { manifestJsonSchema } from '#shared/catalogue/manifests/index.ts'
import type { Json } from './schemas.ts'
import { BASE_URL } from './shared-components.ts'

/** Sample manifest that uses each part once. */
export const EXAMPLE_MANIFEST = {
  $schema: `${BASE_URL}/schemas/manifest.json`,
  id: 'acme.stock-helper',
  version: '1.0.0',
  name: 'Stock helper',
  summary: 'Answers questions about the stock of a shop.',
  runtime: { type: 'webhook', endpoint: 'https://agent.example.com/run' },
  tools: [
    {
      name: 'check_stock',
      description: 'Returns how many items of a product are in stock.',
      input_schema: { type: 'object', properties: { sku: { type: 'string' } }, required: ['sku'] },
    },
  ],
  config: { type: 'object', properties: { api_key: { type: 'string', title: 'API key', writeOnly: true } } },
  scopes: ['runs:write', 'tools:invoke'],
}

/** Converts the manifest's JSON Schema to components of the document. Each definition becomes a component. */
export const manifestComponents = (): Record<string, Json> => {
  const { $schema: _, $id: __, $defs = {}, ...manifest } = manifestJsonSchema(BASE_URL)
  const definitions = Object.entries($defs as Record<string, Json>)
  return Object.fromEntries(
    [
      ['Manifest', { ...manifest, examples: [EXAMPLE_MANIFEST] }] as const,
      ...definitions.map(([name, one]) => [componentName(name), one] as const),
    ].map(([name, schema]) => [name, repoint(schema) as Json]),
  )
}

const componentName = (definition: string): string => `Manifest${definition[0]?.toUpperCase()}${definition.slice(1)}`

/** Makes references point to components. */
const repoint = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(repoint)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [
      name,
      name === '$ref' && typeof one === 'string' && one.startsWith('#/$defs/')
        ? `#/components/schemas/${componentName(one.slice('#/$defs/'.length))}`
        : repoint(one),
    ]),
  )
}
