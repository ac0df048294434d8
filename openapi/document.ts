import type { Endpoint, Group } from '#shared/http/endpoint.ts'
import { manifestComponents } from './manifest.ts'
import { operationOf, TAGS } from './operation.ts'
import { type Json, Schemas } from './schemas.ts'
import {
  BASE_URL,
  ERROR_SCHEMA,
  errorExamples,
  GATEWAY_ANSWER,
  HEADERS,
  IDEMPOTENCY_KEY,
  SECURITY_SCHEMES,
} from './shared-components.ts'
import { WEBHOOK_TAG, webhooksOf } from './webhooks.ts'

const DESCRIPTION = `Developers register agents, customers install them through OAuth, and the platform executes them as runs.

Every response carries \`X-Request-Id\`. Every error has the same body: match on \`error.code\`. Any POST can carry an
\`Idempotency-Key\`. Lists are paginated: send \`next_cursor\` as \`cursor\` to get the next page. \`/api/v1\` stays compatible:
responses can gain fields, and a deprecated operation sends \`Deprecation\` and \`Sunset\` for at least 180 days.`

/**
 * Builds the OpenAPI 3.1 document from the endpoints' declarations. Addresses contain the placeholder {@link BASE_URL}.
 * @throws if different schemas share an id, or if two endpoints share an id or a path and method
 */
export const buildDocument = (endpoints: readonly Endpoint[], version: string): Json => {
  const schemas = new Schemas({ ...manifestComponents(), Error: ERROR_SCHEMA })
  const paths: Record<string, Record<string, Json>> = {}
  const ids = new Set<string>()
  for (const endpoint of endpoints) {
    const path = paths[endpoint.path] ?? {}
    const method = endpoint.method.toLowerCase()
    if (path[method] || ids.has(endpoint.id)) throw new Error(`${endpoint.id} is declared twice`)
    ids.add(endpoint.id)
    paths[endpoint.path] = { ...path, [method]: operationOf(endpoint, schemas) }
  }
  const webhooks = webhooksOf(schemas)
  const used = new Set<Group>(endpoints.map(({ group }) => group))
  const tags = (Object.keys(TAGS) as Group[]).filter((group) => used.has(group)).map((group) => TAGS[group])
  return {
    openapi: '3.1.0',
    info: {
      title: 'Agent Integration Platform API',
      version,
      description: DESCRIPTION,
      contact: { name: 'Agent Integration Platform', url: `${BASE_URL}/docs` },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema',
    servers: [{ url: BASE_URL, description: 'This platform.' }],
    externalDocs: {
      url: `${BASE_URL}/docs`,
      description: 'Guides: quickstart, agents, OAuth, webhooks, errors, limits.',
    },
    tags: [...tags, WEBHOOK_TAG],
    paths,
    webhooks,
    components: {
      schemas: schemas.components,
      headers: HEADERS,
      parameters: { IdempotencyKey: IDEMPOTENCY_KEY },
      responses: { Gateway: GATEWAY_ANSWER },
      examples: examplesFor(paths),
      securitySchemes: SECURITY_SCHEMES,
    },
  }
}

/** Returns the error examples that operations refer to. Codes that occur only in runs have none. */
const examplesFor = (paths: object): Record<string, Json> => {
  const text = JSON.stringify([paths, GATEWAY_ANSWER])
  return Object.fromEntries(
    Object.entries(errorExamples()).filter(([code]) => text.includes(`"#/components/examples/${code}"`)),
  )
}
