import type { ManifestContext } from '#shared/catalogue/manifests/rules.ts'
import { SCOPE_NAMES } from '#shared/kernel/scopes.ts'

/** Returns a manifest that uses every part. */
export const fullManifest = () => ({
  $schema: 'https://platform.example/schemas/manifest.json',
  id: 'acme.stock-helper',
  version: '1.2.3-beta.1+build.5',
  name: 'Stock helper',
  summary: 'Answers questions about the stock of a shop.',
  runtime: { type: 'webhook', endpoint: 'https://agent.example.com/run', resume: true },
  tools: [
    {
      name: 'check_stock',
      description: 'Tells how many pieces of a product are in stock.',
      input_schema: { type: 'object', properties: { sku: { type: 'string' } }, required: ['sku'] },
      output_schema: { type: 'object', properties: { pieces: { type: 'integer' } } },
      mcp: { annotations: { title: 'Check stock', readOnlyHint: true }, requires: ['elicitation'], task: 'never' },
    },
  ],
  config: {
    type: 'object',
    properties: {
      api_key: { type: 'string', title: 'API key', writeOnly: true, minLength: 8 },
      region: { type: 'string', enum: ['eu', 'us'], default: 'eu' },
      limit: { type: 'integer', minimum: 1, maximum: 10, default: 5 },
      verbose: { type: 'boolean' },
    },
    required: ['api_key'],
  },
  schedules: [
    {
      key: 'weekly_summary',
      name: 'Every Monday, sum up the week',
      when: { cron: '0 9 * * MON' },
      start: { input: { topic: 'the week' } },
    },
    {
      key: 'mugs',
      name: 'Count the mugs',
      when: { every: 'PT1H' },
      start: { input: {} },
    },
  ],
  scopes: ['runs:write', 'tasks:read'],
  surface: { url: 'https://agent.example.com/panel' },
})

/** Returns the smallest valid manifest. */
export const smallManifest = () => ({
  id: 'acme.stock-helper',
  version: '1.0.0',
  name: 'Stock helper',
  summary: 'Answers questions.',
  runtime: { type: 'webhook', endpoint: 'https://agent.example.com/run' },
})

export const anyContext: ManifestContext = {
  checkUrl: (url) => (URL.canParse(url) && new URL(url).protocol === 'https:' ? undefined : 'it is not https'),
  knownScopes: SCOPE_NAMES,
}
