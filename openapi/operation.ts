import type * as z from 'zod'
import { type Endpoint, type Group, keepsAnswers } from '#shared/http/endpoint.ts'
import { type ErrorForm, errorFormOf } from '#shared/http/error-form.ts'
import { a2aFailure } from '#shared/kernel/a2a-error.ts'
import { ERRORS, type ErrorCode, fail } from '#shared/kernel/errors.ts'
import { PREFIXES } from '#shared/kernel/ids.ts'
import { standardStatus } from '#shared/kernel/oauth-errors.ts'
import { errorCodesOf } from './error-codes.ts'
import { sampleOf } from './sample.ts'
import { pathText } from './sample-values.ts'
import type { Json, Schemas } from './schemas.ts'
import { BASE_URL, errorResponseOf, GATEWAY_CODES } from './shared-components.ts'

/** Tag of each group, which is a chapter of the reference. */
export const TAGS: Record<Group, { name: string; description: string }> = {
  oauth: { name: 'OAuth', description: 'Authorization code flow with PKCE, consent and tokens.' },
  connect: { name: 'OAuth by the RFCs', description: 'The second issuer, for standard clients.' },
  api: { name: 'Integration API', description: 'For installed integrations, with their access token.' },
  mcp: { name: 'MCP', description: 'The Model Context Protocol: tools of the platform and of agents for MCP clients.' },
  a2a: { name: 'A2A', description: 'The Agent2Agent protocol: installed agents as A2A agents.' },
  developer: { name: 'Developer API', description: 'Accounts, apps, manifest versions, the sandbox and moderation.' },
  console: { name: 'Console API', description: 'Used by the customer console. Integrations can’t use it.' },
  admin: { name: 'Admin API', description: 'For admins, who operate the platform.' },
  docs: { name: 'Documentation', description: 'The documentation and machine-readable descriptions.' },
}

/** Responses of the gateway itself, which don't belong to any operation. */
const GATEWAY_ANSWER = { $ref: '#/components/responses/Gateway' }

/** Builds an operation from an endpoint's declaration. */
export const operationOf = (endpoint: Endpoint, schemas: Schemas): Json => ({
  operationId: endpoint.id,
  tags: [TAGS[endpoint.group].name],
  summary: endpoint.summary,
  description: [endpoint.description ?? `${endpoint.summary}.`, accessOf(endpoint), ...errorsLineOf(endpoint)].join(
    '\n\n',
  ),
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

/** Describes who can call an endpoint, including what the security scheme can't express. */
const accessOf = ({ caller, hosts, scope, role, params, standard }: Endpoint): string => {
  const words = {
    none: 'Requires no credential.',
    client: standard
      ? 'Requires the client’s `client_id` and `client_secret`, by HTTP Basic or in the body.'
      : 'Requires the client’s `client_id` and `client_secret` in the body.',
    integration: `Requires an access token with ${scope ? `the scope \`${scope}\`` : 'any scopes'}${hosts ? ', or a person’s' : ''}.`,
    developer: 'Requires a developer key.',
    console: role ? `Requires a console session with at least the role \`${role}\`.` : 'Requires a console session.',
    admin: role === 'superadmin' ? 'Requires an admin with the role `superadmin`.' : 'Requires an admin.',
  }[caller]
  const foreign = caller !== 'none' && caller !== 'admin' && Object.values(params).some((kind) => kind !== 'text')
  return foreign ? `${words} Unknown IDs, and those that you can’t access, get 404.` : words
}

/** Returns the security requirements of an operation. Any one of them suffices. */
export const securityOf = ({ caller, hosts, scope }: Endpoint): Json[] => {
  switch (caller) {
    case 'none':
    case 'client':
      return []
    case 'integration':
      return [{ integration: scope ? [scope] : [] }, ...(hosts ? [{ person: [] }] : [])]
    case 'admin':
      return [{ admin: [] }, { adminKey: [] }]
    default:
      return [{ [caller]: [] }]
  }
}

const parametersOf = (
  { path, params, query, method, lastEventId, conditional }: Endpoint,
  schemas: Schemas,
): Json[] => {
  const pathParameters = Object.entries(params).map(([name, kind]) => ({
    name,
    in: 'path',
    required: true,
    schema:
      kind === 'text'
        ? { type: 'string', examples: [pathText(path, name)] }
        : { type: 'string', examples: [`${PREFIXES[kind]}_01kae5m1v8w6c3x9q2r7t4y0zn`] },
  }))
  const { properties = {}, required = [] } = (query ? resolve(schemas, query(), 'input') : {}) as {
    properties?: Record<string, Json>
    required?: string[]
  }
  const queryParameters = Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    ...(description !== undefined && { description }),
    schema,
  }))
  const key = method === 'POST' ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : []
  const resumed = lastEventId ? [lastEventIdOf(lastEventId)] : []
  return [...pathParameters, ...queryParameters, ...key, ...resumed, ...(conditional ? [IF_NONE_MATCH] : [])]
}

const IF_NONE_MATCH = {
  name: 'If-None-Match',
  in: 'header',
  required: false,
  description: 'Entity tags of the versions you already have (RFC 9110 §13.1.2).',
  schema: { type: 'string', examples: ['"4f2c1d7a9be04c55a1d0f0f6f5a1f2b3"'] },
}

const lastEventIdOf = ({ source }: RegExp): Json => ({
  name: 'Last-Event-ID',
  in: 'header',
  required: false,
  description:
    'The `id` of the last event you received. The stream continues after it. Leave it empty or omit it to start from the beginning.',
  schema: { type: 'string', pattern: source },
})

/** Returns a schema's content, resolving a reference to a component. */
const resolve = (schemas: Schemas, schema: z.ZodType, io: 'input' | 'output'): Json => {
  const resolved = schemas.of(schema, io)
  return typeof resolved.$ref === 'string'
    ? (schemas.components[resolved.$ref.split('/').at(-1) ?? ''] ?? resolved)
    : resolved
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

/** Removes fields that can't be combined from an example, last one first, until the schema accepts it. */
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
  const { status, response, list, also, produces, example, conditional, answers } = endpoint
  const headers = [
    ...(keepsAnswers(endpoint) ? ['Idempotency-Replayed'] : []),
    ...(status === 302 ? ['Location'] : []),
    ...(conditional ? ['ETag'] : []),
  ]
  const item = response && schemas.of(response(), 'output')
  const envelope = item && list ? ENVELOPES[list](item) : item
  const schema = envelope && also ? { allOf: [envelope, schemas.of(also(), 'output')] } : envelope
  const json = schema && { schema, example: example ?? sampleOf(schema, schemas.components) }
  const streamed = json && `event: message\ndata: ${JSON.stringify(json.example)}\n\n`
  const content = produces
    ? Object.fromEntries(
        [produces].flat().map((type) => [type, (isJson(type) && json) || textOf(type, streamed ?? example)]),
      )
    : json && { 'application/json': json }
  return {
    description: answers ?? DESCRIPTIONS[status],
    ...(headers.length > 0 && {
      headers: Object.fromEntries(headers.map((name) => [name, { $ref: `#/components/headers/${name}` }])),
    }),
    ...(content && { content }),
  }
}

const isJson = (type: string): boolean => /[/+]json$/.test(type)

/** Describes a response that has no schema. */
const textOf = (type: string, example: unknown): Json =>
  isJson(type)
    ? { schema: { type: 'object' }, example: example ?? {} }
    : { schema: { type: 'string' }, example: example ?? TEXTS[type] ?? `Content as ${type}.` }

/** Examples of responses that aren't JSON, for declarations without their own example. */
const TEXTS: Record<string, unknown> = {
  'text/html': '<!doctype html>\n<html lang="en">…</html>\n',
  'text/markdown': '# Quickstart\n\nIn about ten minutes, you’ll build an agent …\n',
  'text/csv': 'id,name\r\napp_01kae5m1v8w6c3x9q2r7t4y0zn,Stock helper\r\n',
  'text/event-stream': 'id: 1\nevent: state\ndata: {"status":"queued"}\n\n',
}

const UNCHANGED = {
  description: 'Not modified since the version you have. The response has no body.',
  headers: {
    'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' },
    ETag: { $ref: '#/components/headers/ETag' },
  },
}

const nothingOf = ({ orNothing }: Endpoint): Json =>
  orNothing
    ? {
        [orNothing.status]: {
          description: orNothing.when,
          headers: { 'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' } },
        },
      }
    : {}

const DESCRIPTIONS = { 200: 'Success.', 201: 'Created.', 204: 'Success, without a body.', 302: 'Redirect.' } as const

/** Wraps an item's schema in the list envelope (contract/general.md#pages). */
const listOf = (item: Json): Json => ({
  type: 'object',
  required: ['items', 'next_cursor', 'has_more'],
  properties: {
    items: { type: 'array', items: item },
    next_cursor: {
      type: ['string', 'null'],
      description: 'Send it as `cursor` to get the next page. Null on the last page.',
    },
    has_more: { type: 'boolean', description: 'Whether there are more pages.', examples: [false] },
  },
})

/** Wraps an item's schema in the envelope of admin lists (contract/general.md#admin-lists). */
const observedOf = (item: Json): Json => ({
  type: 'object',
  required: ['items', 'total', 'limit', 'offset'],
  properties: {
    items: { type: 'array', items: item },
    total: { type: 'integer', description: 'Number of records that match the filters.' },
    limit: { type: 'integer' },
    offset: { type: 'integer' },
  },
})

const ENVELOPES = { page: listOf, offset: observedOf } as const

/** Names the error codes that are particular to an operation. Others can occur anywhere. */
const errorsLineOf = (endpoint: Endpoint): string[] => {
  const codes = errorCodesOf(endpoint).filter((code) => !COMMON_CODES.has(code))
  return codes.length > 0 ? [`Errors: ${codes.map((code) => `\`${code}\``).join(', ')}.`] : []
}

const COMMON_CODES: ReadonlySet<ErrorCode> = new Set(GATEWAY_CODES)

/** Refers to the response of each error status. Where people come by a link, an error may also be a page. */
const errorsOf = (endpoint: Endpoint): Json => {
  const form = errorFormOf(endpoint)
  const codes = errorCodesOf(endpoint)
  const pages = endpoint.showsErrors ? codes.map((code) => ERRORS[code][0]) : []
  const statuses = [...new Set([...codes.map(STATUSES[form]), ...pages])].filter((status) => status >= 400)
  const declared = Object.fromEntries(
    statuses.map((status) => {
      const name = errorResponseOf(form, status, endpoint.showsErrors ?? false)
      return [status, { $ref: `#/components/responses/${name}` }]
    }),
  )
  // An endpoint without client errors of its own can still be throttled by the gateway.
  return statuses.some((status) => status < 500) ? declared : { ...declared, '4XX': GATEWAY_ANSWER }
}

const byA2a = (code: ErrorCode) => a2aFailure(fail(code), '', BASE_URL)

/** HTTP status of an error code in each form. JSON-RPC answers some with 200. */
const STATUSES: Record<ErrorForm, (code: ErrorCode) => number> = {
  platform: (code) => ERRORS[code][0],
  oauth: (code) => standardStatus({ code, status: ERRORS[code][0] }),
  mcp: (code) => ERRORS[code][0],
  'a2a-rpc': (code) => byA2a(code).rpcStatus,
  a2a: (code) => byA2a(code).status,
  'a2a-0.3': (code) => byA2a(code).status,
}
