import type { Endpoint, Group } from '../http/endpoint.ts'
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

const DESCRIPTION = `Third-party agents are registered by developers, installed by customers through OAuth, and executed as runs.

Every answer carries \`X-Request-Id\`. Every error has the same body; clients match on \`error.code\`. Any POST may carry an
\`Idempotency-Key\`. Lists come in pages: send \`next_cursor\` as \`cursor\`. \`/api/v1\` stays compatible: answers may gain
fields, and a route that is to go carries \`Deprecation\` and \`Sunset\` for at least 180 days.`

/**
 * The OpenAPI 3.1 document of these endpoints, derived from their declarations. Addresses have the placeholder
 * {@link BASE_URL}.
 * @throws when two schemas share an id and differ, or two endpoints share a path and method or an id
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

/** The error examples that operations refer to. Codes that only a run's record can have are in no answer. */
const examplesFor = (paths: object): Record<string, Json> => {
  const text = JSON.stringify([paths, GATEWAY_ANSWER])
  return Object.fromEntries(
    Object.entries(errorExamples()).filter(([code]) => text.includes(`"#/components/examples/${code}"`)),
  )
}
