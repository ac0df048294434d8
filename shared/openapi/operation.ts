import type * as z from 'zod'
import type { Endpoint, Group } from '../http/endpoint.ts'
import { ERRORS, type ErrorCode } from '../kernel/errors.ts'
import { PREFIXES } from '../kernel/ids.ts'
import { errorCodesOf } from './error-codes.ts'
import { sampleOf } from './sample.ts'
import type { Json, Schemas } from './schemas.ts'
import { errorResponse } from './shared-components.ts'

/** The tag of each group: a chapter of the reference. */
export const TAGS: Record<Group, { name: string; description: string }> = {
  oauth: { name: 'OAuth', description: 'Authorization code with PKCE, consent, tokens.' },
  api: { name: 'Integration API', description: 'What an installed integration does with its access token.' },
  developer: { name: 'Developer API', description: 'Accounts, apps, manifest versions, sandbox, moderation.' },
  console: { name: 'Console API', description: 'The customer’s screens; integrations cannot use it.' },
  admin: { name: 'Admin API', description: 'Platform staff.' },
  docs: { name: 'Documentation', description: 'The reference and machine-readable descriptions.' },
}

const RATE_HEADERS = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Policy']

/** One endpoint's declaration as an operation. */
export const operationOf = (endpoint: Endpoint, schemas: Schemas): Json => ({
  operationId: endpoint.id,
  tags: [TAGS[endpoint.group].name],
  summary: endpoint.summary,
  ...(endpoint.description && { description: endpoint.description }),
  security: securityOf(endpoint),
  ...(endpoint.role && { 'x-role': endpoint.role }),
  parameters: parametersOf(endpoint, schemas),
  ...requestBodyOf(endpoint, schemas),
  responses: { [endpoint.status]: successOf(endpoint, schemas), ...nothingOf(endpoint), ...errorsOf(endpoint) },
})

const securityOf = ({ caller, scope }: Endpoint): Json[] => {
  switch (caller) {
    case 'none':
    case 'client':
      return []
    case 'integration':
      return [{ integration: scope ? [scope] : [] }]
    case 'admin':
      return [{ admin: [] }, { adminKey: [] }]
    default:
      return [{ [caller]: [] }]
  }
}

const parametersOf = ({ params, query, method, produces }: Endpoint, schemas: Schemas): Json[] => {
  const path = Object.entries(params).map(([name, kind]) => ({
    name,
    in: 'path',
    required: true,
    schema:
      kind === 'text'
        ? { type: 'string' }
        : { type: 'string', examples: [`${PREFIXES[kind]}_01kae5m1v8w6c3x9q2r7t4y0zn`] },
  }))
  const { properties = {}, required = [] } = (query ? resolve(schemas, query(), 'input') : {}) as {
    properties?: Record<string, Json>
    required?: string[]
  }
  const asked = Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    ...(description !== undefined && { description }),
    schema,
  }))
  const key = method === 'POST' ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : []
  const resumed = produces === 'text/event-stream' ? [LAST_EVENT_ID] : []
  return [...path, ...asked, ...key, ...resumed]
}

const LAST_EVENT_ID = {
  name: 'Last-Event-ID',
  in: 'header',
  required: false,
  description: 'The `id` of the last event that was seen; what is behind it follows.',
  schema: { type: 'string', pattern: '^\\d{1,12}$' },
}

/** A schema's content, also where it is a component. */
const resolve = (schemas: Schemas, schema: z.ZodType, io: 'input' | 'output'): Json => {
  const made = schemas.of(schema, io)
  return typeof made.$ref === 'string' ? (schemas.components[made.$ref.split('/').at(-1) ?? ''] ?? made) : made
}

const requestBodyOf = ({ body, consumes }: Endpoint, schemas: Schemas): Json => {
  if (!body) return {}
  const schema = schemas.of(body(), 'input')
  const type = consumes === 'form' ? 'application/x-www-form-urlencoded' : 'application/json'
  return {
    requestBody: { required: true, content: { [type]: { schema, example: sampleOf(schema, schemas.components) } } },
  }
}

const successOf = (endpoint: Endpoint, schemas: Schemas): Json => {
  const { status, response, list, beside, produces, caller, method, example } = endpoint
  const headers = [
    'X-Request-Id',
    ...(caller === 'none' ? [] : RATE_HEADERS),
    ...(method === 'POST' ? ['Idempotency-Replayed'] : []),
    ...(status === 302 ? ['Location'] : []),
  ]
  const one = response && schemas.of(response(), 'output')
  const envelope = one && list === 'page' ? listOf(one) : one
  const schema = envelope && beside ? { allOf: [envelope, schemas.of(beside(), 'output')] } : envelope
  const json = schema && { schema, example: example ?? sampleOf(schema, schemas.components) }
  const content = produces
    ? { [produces]: json ?? { schema: { type: 'string' }, ...(example !== undefined && { example }) } }
    : json && { 'application/json': json }
  return {
    description: DESCRIPTIONS[status],
    headers: Object.fromEntries(headers.map((name) => [name, { $ref: `#/components/headers/${name}` }])),
    ...(content && { content }),
  }
}

const nothingOf = ({ nothingWhen }: Endpoint): Json =>
  nothingWhen
    ? { 204: { description: nothingWhen, headers: { 'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' } } } }
    : {}

const DESCRIPTIONS = { 200: 'Done.', 201: 'Created.', 204: 'Done; there is no body.', 302: 'Go there.' } as const

/** The list envelope (specification "List envelope"). */
const listOf = (item: Json): Json => ({
  type: 'object',
  required: ['items', 'next_cursor', 'has_more'],
  properties: {
    items: { type: 'array', items: item },
    next_cursor: { type: ['string', 'null'], description: 'Send it as `cursor` for the next page; null on the last.' },
    has_more: { type: 'boolean' },
  },
})

const errorsOf = (endpoint: Endpoint): Json => {
  const byStatus = new Map<number, ErrorCode[]>()
  for (const code of errorCodesOf(endpoint)) {
    const [status] = ERRORS[code]
    byStatus.set(status, [...(byStatus.get(status) ?? []), code])
  }
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      status,
      errorResponse(codes, [
        'X-Request-Id',
        ...(status === 429 ? [...RATE_HEADERS, 'Retry-After'] : []),
        ...(status === 401 || endpoint.caller === 'client' ? ['WWW-Authenticate'] : []),
      ]),
    ]),
  )
}
