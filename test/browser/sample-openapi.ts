const run = { $ref: '#/components/schemas/Run' }
const content = (schema: unknown, example?: unknown) => ({
  'application/json': example === undefined ? { schema } : { schema, example },
})

/** A small OpenAPI 3.1 document with everything that the page shows: tags, security, bodies, references, webhooks. */
export const sampleOpenapi = {
  openapi: '3.1.0',
  info: { title: 'Agent Integration Platform', version: 'v1', description: 'A **sample**.' },
  servers: [{ url: '/' }],
  tags: [
    { name: 'Runs', description: 'Jobs of an agent.' },
    { name: 'Webhooks', description: 'Events sent to you.' },
  ],
  paths: {
    '/api/v1/runs': {
      post: {
        operationId: 'startRun',
        tags: ['Runs'],
        summary: 'Create a run and start it',
        security: [{ integration: ['runs:write'] }],
        requestBody: {
          content: content({ type: 'object', properties: { input: { type: 'object' } } }, { input: { a: 1 } }),
        },
        responses: { 201: { description: 'The run.', content: content(run) } },
      },
      get: {
        operationId: 'listRuns',
        tags: ['Runs'],
        summary: 'List runs',
        security: [{ integration: ['runs:read'] }],
        parameters: [{ name: 'limit', in: 'query', schema: { type: 'integer', minimum: 1, maximum: 100 } }],
        responses: { 200: { description: 'Runs.', content: content({ type: 'array', items: run }) } },
      },
    },
    '/api/v1/webhooks': {
      get: {
        operationId: 'listWebhooks',
        tags: ['Webhooks'],
        summary: 'List <webhook> subscriptions',
        responses: {
          200: { description: 'Subscriptions.', content: content({ type: 'array', items: { type: 'object' } }) },
        },
      },
    },
  },
  webhooks: {
    'run.execute': {
      post: {
        tags: ['Webhooks'],
        summary: 'run.execute',
        requestBody: { content: content({ type: 'object' }) },
        responses: { 202: { description: 'Accepted.' } },
      },
    },
    'run.succeeded': {
      post: {
        tags: ['Webhooks'],
        summary: 'A run succeeded',
        requestBody: { content: content(run) },
        responses: { 200: { description: 'Any 2xx.' } },
      },
    },
  },
  components: {
    securitySchemes: {
      integration: { type: 'http', scheme: 'bearer' },
      developer: { type: 'apiKey', in: 'header', name: 'X-Developer-Key' },
    },
    schemas: {
      ConsoleInstallationApprovalPoliciesSettingsItem: { type: 'object' },
      Run: {
        type: 'object',
        required: ['id', 'status'],
        properties: {
          id: { type: 'string', description: 'The run’s id.', examples: ['run_01jd4y8m0c5w6r7t8v9x0z1a2b'] },
          status: { enum: ['queued', 'running', 'succeeded'] },
          steps: { type: 'array', items: { type: 'object', properties: { seq: { type: 'integer' } } } },
        },
      },
    },
  },
}
