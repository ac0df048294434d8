import { type DocumentName, isDescribed } from '#shared/http/documents.ts'
import type { Endpoint, Group } from '#shared/http/endpoint.ts'
import { ERRORS, type ErrorCode } from '#shared/kernel/errors.ts'
import { errorCodesOf } from './error-codes.ts'
import { manifestComponents } from './manifest.ts'
import { withNamedSchemas } from './named-schemas.ts'
import { operationOf, securityOf, TAGS } from './operation.ts'
import { type Json, Schemas } from './schemas.ts'
import {
  BASE_URL,
  errorExamples,
  errorResponses,
  errorSchema,
  GATEWAY_ANSWER,
  GATEWAY_CODES,
  HEADERS,
  IDEMPOTENCY_KEY,
  PROTOCOL_ERROR_SCHEMAS,
  PROTOCOL_RESPONSES,
  SECURITY_SCHEMES,
} from './shared-components.ts'
import { UPLOAD_PATH, UPLOAD_RESPONSES, uploadOperation, WITH_UPLOAD } from './upload.ts'
import { WEBHOOK_PARAMETERS, WEBHOOK_RESPONSES, WEBHOOK_TAG, webhooksOf } from './webhooks.ts'

const DESCRIPTION = `Developers register agents, customers install them through OAuth, and the platform executes them as runs.

Every response carries \`X-Request-Id\`, and those to a caller with a rate limit \`X-RateLimit-Limit\`,
\`X-RateLimit-Remaining\` and \`X-RateLimit-Policy\`. Every error has the same body: match on \`error.code\`. Any POST can carry an
\`Idempotency-Key\`. Lists are paginated: send \`next_cursor\` as \`cursor\` to get the next page. \`/api/v1\` stays compatible:
responses can gain fields, and a deprecated operation sends \`Deprecation\` and \`Sunset\` for at least 180 days.`

/** Documents that describe the requests to agents and webhook receivers as well. */
const WITH_WEBHOOKS: readonly DocumentName[] = ['openapi', 'integration']

/**
 * Builds an OpenAPI 3.1 document from the endpoints' declarations. Addresses contain the placeholder {@link BASE_URL}.
 * @param name which of the endpoints to describe. `openapi` describes all.
 * @throws if different schemas share an id, or if two endpoints share an id or a path and method
 */
export const buildDocument = (all: readonly Endpoint[], version: string, name: DocumentName = 'openapi'): Json => {
  const endpoints = all.filter((endpoint) => isDescribed(name, endpoint))
  const codes = new Set<ErrorCode>([...GATEWAY_CODES, ...endpoints.flatMap(errorCodesOf)])
  // In the order of their declaration, whatever the order of the endpoints.
  const errors = (Object.keys(ERRORS) as ErrorCode[]).filter((code) => codes.has(code))
  const schemas = new Schemas({ ...manifestComponents(), ErrorBody: errorSchema(errors), ...PROTOCOL_ERROR_SCHEMAS })
  const paths: Record<string, Record<string, Json>> = {}
  const ids = new Set<string>()
  for (const endpoint of endpoints) {
    const path = paths[endpoint.path] ?? {}
    const method = endpoint.method.toLowerCase()
    if (path[method] || ids.has(endpoint.id)) throw new Error(`${endpoint.id} is declared twice`)
    ids.add(endpoint.id)
    paths[endpoint.path] = { ...path, [method]: operationOf(endpoint, schemas) }
  }
  if (WITH_UPLOAD.includes(name) && endpoints.some(({ id }) => id === 'api.files.create'))
    paths[UPLOAD_PATH] = { put: uploadOperation(TAGS.api.name) }
  const hasWebhooks = WITH_WEBHOOKS.includes(name)
  const webhooks = hasWebhooks ? webhooksOf(schemas) : undefined
  const used = new Set<Group>(endpoints.map(({ group }) => group))
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
    tags: [
      ...(Object.keys(TAGS) as Group[]).filter((group) => used.has(group)).map((group) => TAGS[group]),
      ...(hasWebhooks ? [WEBHOOK_TAG] : []),
    ],
    paths,
    ...(webhooks && { webhooks }),
    components: {
      securitySchemes: usedSchemes(endpoints),
      ...usedComponents(
        { paths, webhooks },
        {
          schemas: withNamedSchemas(schemas.components),
          headers: HEADERS,
          parameters: { IdempotencyKey: IDEMPOTENCY_KEY, ...WEBHOOK_PARAMETERS },
          responses: {
            ...errorResponses(errors),
            ...PROTOCOL_RESPONSES,
            Gateway: GATEWAY_ANSWER,
            ...WEBHOOK_RESPONSES,
            ...UPLOAD_RESPONSES,
          },
          examples: errorExamples(errors),
        },
      ),
    },
  }
}

const usedSchemes = (endpoints: readonly Endpoint[]): Json => {
  const names = new Set(endpoints.flatMap(securityOf).flatMap(Object.keys))
  return Object.fromEntries(Object.entries(SECURITY_SCHEMES).filter(([name]) => names.has(name)))
}

/** Removes the components that nothing in the document refers to, directly or through another component. */
const usedComponents = (from: object, components: Record<string, Record<string, Json>>): Json => {
  const used = new Set<string>()
  const follow = (value: unknown): void => {
    const text = JSON.stringify(value) ?? ''
    for (const [, ref = ''] of text.matchAll(/"#\/components\/([\w/.-]+)"/g)) {
      if (used.has(ref)) continue
      used.add(ref)
      const [kind = '', name = ''] = ref.split('/')
      follow(components[kind]?.[name])
    }
  }
  follow(from)
  return Object.fromEntries(
    Object.entries(components).map(([kind, all]) => [
      kind,
      Object.fromEntries(Object.entries(all).filter(([name]) => used.has(`${kind}/${name}`))),
    ]),
  )
}
