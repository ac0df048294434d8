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

/** What the gateway in front answers itself is of no one operation. */
const GATEWAY_ANSWER = { $ref: '#/components/responses/Gateway' }

const RATE_HEADERS = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Policy']

/** One endpoint's declaration as an operation. */
export const operationOf = (endpoint: Endpoint, schemas: Schemas): Json => ({
  operationId: endpoint.id,
  tags: [TAGS[endpoint.group].name],
  summary: endpoint.summary,
  description: [endpoint.description ?? `${endpoint.summary}.`, accessOf(endpoint)].join('\n\n'),
  security: securityOf(endpoint),
  ...(endpoint.role && { 'x-role': endpoint.role }),
  parameters: parametersOf(endpoint, schemas),
  ...requestBodyOf(endpoint, schemas),
  responses: {
    [endpoint.status]: successOf(endpoint, schemas),
    ...nothingOf(endpoint),
    ...(endpoint.conditional && { 304: UNCHANGED }),
    ...errorsOf(endpoint),
    default: GATEWAY_ANSWER,
  },
})

/** Who may call it, in words: what the security scheme cannot say stands here. */
const accessOf = ({ caller, scope, role, params }: Endpoint): string => {
  const words = {
    none: 'Open to everybody; no credential is read.',
    client: 'The client identifies itself by `client_id` and `client_secret` in the body.',
    integration: scope
      ? `Needs an access token with the scope \`${scope}\`.`
      : 'Takes any access token; no scope is needed.',
    developer: 'Needs a developer key.',
    console: role ? `Needs a console session of at least the role \`${role}\`.` : 'Needs a console session.',
    admin: role === 'superadmin' ? 'Needs an admin with the role `superadmin`.' : 'Needs an admin.',
  }[caller]
  const foreign = caller !== 'none' && caller !== 'admin' && Object.values(params).some((kind) => kind !== 'text')
  return foreign ? `${words} An id of somebody else is 404, as one that does not exist.` : words
}

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

const parametersOf = ({ params, query, method, lastEventId, conditional }: Endpoint, schemas: Schemas): Json[] => {
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
  const resumed = lastEventId ? [lastEventIdOf(lastEventId)] : []
  return [...path, ...asked, ...key, ...resumed, ...(conditional ? [IF_NONE_MATCH] : [])]
}

const IF_NONE_MATCH = {
  name: 'If-None-Match',
  in: 'header',
  required: false,
  description: 'Entity tags of what one has already (RFC 9110 §13.1.2).',
  schema: { type: 'string', examples: ['"4f2c1d7a9be04c55a1d0f0f6f5a1f2b3"'] },
}

const lastEventIdOf = ({ source }: RegExp): Json => ({
  name: 'Last-Event-ID',
  in: 'header',
  required: false,
  description: 'The `id` of the last event that was seen; what is behind it follows. Empty, as absent: none was seen.',
  schema: { type: 'string', pattern: source },
})

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
    requestBody: {
      // No body counts as `{}`.
      required: !body().safeParse({}).success,
      content: { [type]: { schema, example: accepted(body(), sampleOf(schema, schemas.components)) } },
    },
  }
}

/** An example without the fields that do not go together: those that the schema objects to are left out, the last first. */
const accepted = (schema: z.ZodType, example: unknown): unknown => {
  const objections = (value: unknown): number => schema.safeParse(value).error?.issues.length ?? 0
  if (typeof example !== 'object' || example === null || objections(example) === 0) return example
  let best: Record<string, unknown> = { ...example }
  for (const name of Object.keys(best).reverse()) {
    const { [name]: _, ...without } = best
    if (objections(without) < objections(best)) best = without
  }
  return best
}

const successOf = (endpoint: Endpoint, schemas: Schemas): Json => {
  const { status, response, list, beside, produces, caller, method, example, conditional } = endpoint
  const headers = [
    'X-Request-Id',
    ...(caller === 'none' ? [] : RATE_HEADERS),
    ...(method === 'POST' ? ['Idempotency-Replayed'] : []),
    ...(status === 302 ? ['Location'] : []),
    ...(conditional ? ['ETag'] : []),
  ]
  const one = response && schemas.of(response(), 'output')
  const envelope = one && list ? ENVELOPES[list](one) : one
  const schema = envelope && beside ? { allOf: [envelope, schemas.of(beside(), 'output')] } : envelope
  const json = schema && { schema, example: example ?? sampleOf(schema, schemas.components) }
  const content = produces
    ? Object.fromEntries([produces].flat().map((type) => [type, json ?? textOf(type, example)]))
    : json && { 'application/json': json }
  return {
    description: DESCRIPTIONS[status],
    headers: Object.fromEntries(headers.map((name) => [name, { $ref: `#/components/headers/${name}` }])),
    ...(content && { content }),
  }
}

/** An answer that has no schema of its own. */
const textOf = (type: string, example: unknown): Json =>
  /[/+]json$/.test(type)
    ? { schema: { type: 'object' }, example: example ?? {} }
    : { schema: { type: 'string' }, example: example ?? TEXTS[type] ?? `The content, as ${type}.` }

/** Examples of answers that are not JSON, where the declaration has none of its own. */
const TEXTS: Record<string, unknown> = {
  'text/html': '<!doctype html>\n<html lang="en">…</html>\n',
  'text/markdown': '# Quickstart\n\nFrom nothing to a signed run.\n',
  'text/csv': 'id,name\r\napp_01kae5m1v8w6c3x9q2r7t4y0zn,Stock helper\r\n',
  'text/event-stream': 'id: 1\nevent: state\ndata: {"status":"queued"}\n\n',
}

const UNCHANGED = {
  description: 'It is as one has it already; there is no body.',
  headers: {
    'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' },
    ETag: { $ref: '#/components/headers/ETag' },
  },
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
    has_more: { type: 'boolean', description: 'Whether a further page exists.', examples: [false] },
  },
})

/** The envelope of admin lists (decisions §1 "Pages"). */
const observedOf = (item: Json): Json => ({
  type: 'object',
  required: ['items', 'total', 'limit', 'offset'],
  properties: {
    items: { type: 'array', items: item },
    total: { type: 'integer', description: 'Records in the list as it is filtered.' },
    limit: { type: 'integer' },
    offset: { type: 'integer' },
  },
})

const ENVELOPES = { page: listOf, offset: observedOf } as const

const errorsOf = (endpoint: Endpoint): Json => {
  const byStatus = new Map<number, ErrorCode[]>()
  for (const code of errorCodesOf(endpoint)) {
    const [status] = ERRORS[code]
    byStatus.set(status, [...(byStatus.get(status) ?? []), code])
  }
  const declared = Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      status,
      errorResponse(codes, [
        'X-Request-Id',
        ...(status === 429 ? [...RATE_HEADERS, 'Retry-After'] : []),
        ...(status === 401 || endpoint.caller === 'client' ? ['WWW-Authenticate'] : []),
      ]),
    ]),
  )
  // What refuses nothing itself can still be throttled by the gateway.
  return [...byStatus.keys()].some((status) => status < 500) ? declared : { ...declared, '4XX': GATEWAY_ANSWER }
}
