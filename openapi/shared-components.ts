import { STATUS_CODES } from 'node:http'
import type { ErrorForm } from '#shared/http/error-form.ts'
import { ERRORS, type ErrorCode } from '#shared/kernel/errors.ts'
import { SCOPES } from '#shared/kernel/scopes.ts'
import type { Json } from './schemas.ts'

/** Placeholder for the base address in the built document. The pages function replaces it with the deployment's address. */
export const BASE_URL = 'https://base-url.invalid'

const REQUEST_ID = 'req_01kae5m1v8w6c3x9q2r7t4y0zn'

/** Builds the schema of the error body (contract/errors.md#error-body). */
export const errorSchema = (codes: readonly ErrorCode[]): Json => ({
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message', 'fix', 'docs_url', 'request_id', 'details'],
      properties: {
        code: { type: 'string', enum: codes, description: 'Stable. Match on it in your code.' },
        message: { type: 'string', description: 'Explanation for people. The text can change.' },
        fix: { type: 'string', description: 'How to fix the error.' },
        docs_url: { type: 'string', format: 'uri' },
        request_id: { type: 'string', description: 'Equals X-Request-Id.', examples: [REQUEST_ID] },
        details: { type: 'object', additionalProperties: true, description: 'Further data, depending on the code.' },
      },
    },
  },
})

/** Builds an example body for each error code. */
export const errorExamples = (codes: readonly ErrorCode[]): Record<string, Json> =>
  Object.fromEntries(
    codes.map((code) => {
      const [, message, fix] = ERRORS[code]
      const error = { code, message, fix, docs_url: `${BASE_URL}/docs#${code}`, request_id: REQUEST_ID, details: {} }
      return [code, { value: { error } }]
    }),
  )

/** Headers of responses to callers with a rate limit. */
const RATE_HEADERS = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Policy']

/** Response headers by the name that operations refer to. */
export const HEADERS: Record<string, Json> = {
  'X-Request-Id': {
    description: 'The request’s ID. Include it when you ask for help.',
    required: true,
    schema: { type: 'string', examples: [REQUEST_ID] },
  },
  'X-RateLimit-Limit': {
    description: 'Number of requests that a full bucket allows in one burst.',
    schema: { type: 'integer' },
  },
  'X-RateLimit-Remaining': {
    description: 'Number of requests left in the bucket.',
    schema: { type: 'integer' },
  },
  'X-RateLimit-Policy': {
    description: 'Rate per second and burst of the bucket with the fewest requests left.',
    schema: { type: 'string', examples: ['10;burst=20'] },
  },
  'Retry-After': { description: 'Seconds to wait before you try again.', schema: { type: 'integer', minimum: 1 } },
  'Idempotency-Replayed': {
    description: 'Present if this is the stored response for the Idempotency-Key.',
    schema: { type: 'string', enum: ['true'] },
  },
  'WWW-Authenticate': { description: 'Bearer challenge (RFC 6750 §3).', schema: { type: 'string' } },
  ETag: {
    description: 'Identifies the content. Send it as `If-None-Match` to check whether the content has changed.',
    schema: { type: 'string' },
  },
  Location: { description: 'Address to go to.', schema: { type: 'string', format: 'uri' } },
}

export const IDEMPOTENCY_KEY: Json = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'Makes it safe to repeat a request. For 24 hours, the same key with the same body returns the first response again. Send 1 ' +
    'to 255 printable characters, or a UUID if the request has no credential.',
  // No example: a client that fills it in would send the same key with every request.
  schema: { type: 'string', minLength: 1, maxLength: 255 },
}

/** Security scheme of each kind of caller (contract/general.md#callers). */
export const SECURITY_SCHEMES: Record<string, Json> = {
  integration: {
    type: 'oauth2',
    description:
      'An access token of an installation, a run’s callback token, or a surface token. A surface token can only read, and ' +
      'only what its person can see. Its pages can have fewer items than `limit`, or none, while `has_more` is true.',
    flows: {
      authorizationCode: {
        authorizationUrl: `${BASE_URL}/connect/authorize`,
        tokenUrl: `${BASE_URL}/connect/token`,
        scopes: Object.fromEntries(Object.entries(SCOPES).map(([scope, [description]]) => [scope, description])),
      },
    },
  },
  developer: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Developer-Key',
    description: 'The key from POST /api/v1/dev/register.',
  },
  person: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'The token of a person’s host, from POST /connect/token.',
  },
  console: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'A person’s console session.' },
  admin: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'The token from POST /admin/auth/login, valid for 8 hours.',
  },
  adminKey: { type: 'apiKey', in: 'header', name: 'X-Admin-Key', description: 'An admin key.' },
}

const statusOf = (code: ErrorCode): number => ERRORS[code][0]

/** Returns the name of the response component for an error status, such as `NotFoundError` for 404. */
const errorResponseName = (status: number): string => {
  const words = (STATUS_CODES[status] ?? `Status ${status}`).replaceAll(/\W+/g, ' ')
  return `${words
    .split(' ')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')
    .replace(/Error$/, '')}Error`
}

const errorResponse = (description: string, codes: readonly ErrorCode[], headers: readonly string[]): Json => ({
  description,
  headers: Object.fromEntries(headers.map((name) => [name, { $ref: `#/components/headers/${name}` }])),
  content: {
    'application/json': {
      schema: { $ref: '#/components/schemas/ErrorBody' },
      examples: Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }])),
    },
  },
})

/** Builds the response for each status of the given codes, with an example of each code. Operations refer to them. */
export const errorResponses = (codes: readonly ErrorCode[]): Record<string, Json> =>
  Object.fromEntries(
    [...new Set(codes.map(statusOf))].sort().map((status) => [
      errorResponseName(status),
      errorResponse(
        `${STATUS_CODES[status]}. \`error.code\` says why.`,
        codes.filter((code) => statusOf(code) === status),
        [
          'X-Request-Id',
          ...(status === 429 ? [...RATE_HEADERS, 'Retry-After'] : []),
          ...(status < 500 ? ['WWW-Authenticate'] : []),
        ],
      ),
    ]),
  )

/**
 * Error codes of the gateway itself (`infra/gateway-errors.ts`), of a method that a path doesn't support, and of a store that
 * doesn't answer in time.
 */
export const GATEWAY_CODES = [
  'bad_request',
  'unauthorized',
  'forbidden',
  'not_found',
  'method_not_allowed',
  'payload_too_large',
  'unsupported_media_type',
  'rate_limited',
  'internal_error',
  'unavailable',
] as const satisfies ErrorCode[]

/** Default response of every operation: the gateway refuses a request before the operation gets it, or the store doesn't answer. */
export const GATEWAY_ANSWER: Json = errorResponse(
  'An error from the gateway in front of the platform: the request is too large or was throttled, the gateway failed, or the ' +
    'path doesn’t support the method. The body is the same as for other errors, but the request ID doesn’t start with `req_`. ' +
    'Or 503 `unavailable`, with `Retry-After`: the platform couldn’t read or write its records in time, or has no capacity left.',
  GATEWAY_CODES,
  [],
)

/** Error bodies of the protocols that the platform speaks (contract/connect.md, contract/mcp.md, contract/a2a.md). */
export const PROTOCOL_ERROR_SCHEMAS: Record<string, Json> = {
  OAuthError: {
    type: 'object',
    required: ['error', 'error_description'],
    properties: {
      error: { type: 'string', description: 'Stable. Match on it in your code.', examples: ['invalid_grant'] },
      error_description: { type: 'string', description: 'Explanation for people. The text can change.' },
    },
  },
  JsonRpcFailure: {
    type: 'object',
    required: ['jsonrpc', 'id', 'error'],
    properties: {
      jsonrpc: { type: 'string', const: '2.0' },
      id: {
        anyOf: [{ type: 'string' }, { type: 'number' }, { type: 'null' }],
        description: 'That of the request. Null if it has none.',
      },
      error: {
        type: 'object',
        required: ['code', 'message'],
        properties: {
          code: { type: 'integer', description: 'A code of JSON-RPC or of the protocol, otherwise the HTTP status.' },
          message: { type: 'string', description: 'Explanation, with the fields that are wrong.' },
          data: {
            description:
              'MCP: the `error` of the platform’s own error body, or what the protocol defines. A2A: a list with a ' +
              '`google.rpc.ErrorInfo`; in version 0.3 this object itself.',
          },
        },
      },
    },
  },
  A2aStatus: {
    type: 'object',
    required: ['error'],
    properties: {
      error: {
        type: 'object',
        required: ['code', 'status', 'message', 'details'],
        properties: {
          code: { type: 'integer', description: 'The HTTP status.' },
          status: { type: 'string', description: 'Name of the status.', examples: ['INVALID_ARGUMENT'] },
          message: { type: 'string', description: 'Explanation, with the fields that are wrong.' },
          details: {
            type: 'array',
            items: { type: 'object', additionalProperties: true },
            description: 'A `google.rpc.ErrorInfo`, and a `google.rpc.BadRequest` if parameters are wrong.',
          },
        },
      },
    },
  },
  A2aLegacyError: {
    type: 'object',
    required: ['code', 'message', 'data'],
    properties: {
      code: { type: 'integer', description: 'The code of A2A 0.3 in JSON-RPC, otherwise the HTTP status.' },
      message: { type: 'string', description: 'Explanation, with the fields that are wrong.' },
      data: { type: 'object', additionalProperties: true, description: 'A `google.rpc.ErrorInfo`.' },
    },
  },
}

/** Name of the error response in each form. It is the same for every status, but for the platform's own. */
const RESPONSE_NAMES: Record<Exclude<ErrorForm, 'platform'>, string> = {
  oauth: 'OAuthError',
  mcp: 'JsonRpcError',
  'a2a-rpc': 'A2aRpcError',
  a2a: 'A2aError',
  'a2a-0.3': 'A2aLegacyError',
}

/** Returns the name of the response component for an error. @param isPage whether it may also be a page for people */
export const errorResponseOf = (form: ErrorForm, status: number, isPage: boolean): string => {
  if (form !== 'platform') return RESPONSE_NAMES[form] + (isPage ? 'OrPage' : '')
  return isPage ? 'ErrorOrPage' : errorResponseName(status)
}

const protocolError = (description: string, types: readonly string[], schema: string, example: Json): Json => ({
  description,
  headers: Object.fromEntries(
    ['X-Request-Id', 'WWW-Authenticate', 'Retry-After'].map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  ),
  content: Object.fromEntries(
    types.map((type) => [type, { schema: { $ref: `#/components/schemas/${schema}` }, example }]),
  ),
})

const JSON_ONLY = ['application/json']
const JSON_OF_A2A = ['application/json', 'application/a2a+json']

const NOT_FOUND = errorExamples(['not_found']).not_found?.value as { error: Json & { message: string } }
const INFO = {
  '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
  reason: 'TASK_NOT_FOUND',
  domain: 'a2a-protocol.org',
  metadata: { fix: NOT_FOUND.error.fix, docs_url: NOT_FOUND.error.docs_url, request_id: REQUEST_ID },
}
const TASK_NOT_FOUND = 'The task doesn’t exist, or you didn’t start it.'

/** A page for people, whose browser asked for one first. */
const PAGE: Json = {
  'text/html': {
    schema: { type: 'string' },
    example: '<!doctype html>\n<html lang="en">…</html>\n',
  },
}

const OAUTH_ERROR = protocolError('OAuth error (RFC 6749 §5.2).', JSON_ONLY, 'OAuthError', {
  error: 'invalid_grant',
  error_description: 'The refresh token is invalid.',
})

const orPage = (response: Json): Json => ({ ...response, content: { ...(response.content as Json), ...PAGE } })

/** Error responses that are the same for every status. */
export const PROTOCOL_RESPONSES: Record<string, Json> = {
  ErrorOrPage: orPage(
    protocolError(
      '`error.code` says why. Browsers get a page.',
      JSON_ONLY,
      'ErrorBody',
      errorExamples(['bad_request']).bad_request?.value as Json,
    ),
  ),
  OAuthError: OAUTH_ERROR,
  OAuthErrorOrPage: orPage(OAUTH_ERROR),
  JsonRpcError: protocolError('JSON-RPC error (MCP).', JSON_ONLY, 'JsonRpcFailure', {
    jsonrpc: '2.0',
    id: 1,
    error: { code: 404, message: NOT_FOUND.error.message, data: NOT_FOUND.error },
  }),
  A2aRpcError: protocolError('JSON-RPC error (A2A).', JSON_OF_A2A, 'JsonRpcFailure', {
    jsonrpc: '2.0',
    id: 1,
    error: { code: 404, message: NOT_FOUND.error.message, data: [{ ...INFO, reason: 'NOT_FOUND' }] },
  }),
  A2aError: protocolError('Error of A2A (`google.rpc.Status`).', JSON_OF_A2A, 'A2aStatus', {
    error: { code: 404, status: 'NOT_FOUND', message: TASK_NOT_FOUND, details: [INFO] },
  }),
  A2aLegacyError: protocolError('Error of A2A 0.3.', JSON_OF_A2A, 'A2aLegacyError', {
    code: -32_001,
    message: TASK_NOT_FOUND,
    data: INFO,
  }),
}
