import { ERRORS, type ErrorCode } from '../kernel/errors.ts'
import { SCOPES } from '../kernel/scopes.ts'
import type { Json } from './schemas.ts'

/** Stands for the base address in the built document; the documentation's function puts the deployment's own in. */
export const BASE_URL = 'https://base-url.invalid'

const REQUEST_ID = 'req_01kae5m1v8w6c3x9q2r7t4y0zn'

/** The one error body (specification "Errors"). */
export const ERROR_SCHEMA: Json = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message', 'fix', 'docs_url', 'request_id', 'details'],
      properties: {
        code: { type: 'string', enum: Object.keys(ERRORS), description: 'Stable; clients match on it.' },
        message: { type: 'string', description: 'For people; the text may change.' },
        fix: { type: 'string', description: 'What to do.' },
        docs_url: { type: 'string', format: 'uri' },
        request_id: { type: 'string', description: 'Equals X-Request-Id.', examples: [REQUEST_ID] },
        details: { type: 'object', additionalProperties: true, description: 'Depends on the code.' },
      },
    },
  },
}

/** One example answer per code, referred to by every operation that can give it. */
export const errorExamples = (): Record<string, Json> =>
  Object.fromEntries(
    Object.entries(ERRORS).map(([code, [, message, fix]]) => [
      code,
      {
        summary: message,
        value: {
          error: { code, message, fix, docs_url: `${BASE_URL}/docs#${code}`, request_id: REQUEST_ID, details: {} },
        },
      },
    ]),
  )

/** Answer headers by the name that operations refer to. */
export const HEADERS: Record<string, Json> = {
  'X-Request-Id': {
    description: 'The request’s id, for questions about it.',
    required: true,
    schema: { type: 'string', examples: [REQUEST_ID] },
  },
  'X-RateLimit-Limit': {
    description: 'Requests that a full bucket lets through at once.',
    schema: { type: 'integer' },
  },
  'X-RateLimit-Remaining': {
    description: 'Requests that would be let through right now.',
    schema: { type: 'integer' },
  },
  'X-RateLimit-Policy': {
    description: 'Rate per second and burst of the bucket with the least left.',
    schema: { type: 'string', examples: ['10;burst=20'] },
  },
  'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer', minimum: 1 } },
  'Idempotency-Replayed': {
    description: 'Present when the answer is the one that was kept for this Idempotency-Key.',
    schema: { type: 'string', enum: ['true'] },
  },
  'WWW-Authenticate': { description: 'Bearer challenge (RFC 6750 §3).', schema: { type: 'string' } },
  ETag: {
    description: 'Stands for the content: send it as `If-None-Match` to learn whether it has changed.',
    schema: { type: 'string' },
  },
  Location: { description: 'Where to go.', schema: { type: 'string', format: 'uri' } },
}

export const IDEMPOTENCY_KEY: Json = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'Makes a repeat safe: for 24 hours the same key with the same body gets the first answer again. 1 to 255 printable ' +
    'characters; a UUID where no credential is sent.',
  schema: { type: 'string', minLength: 1, maxLength: 255, examples: ['7f1c2a9e-3b0d-4c55-9d0f-0f6f5a1f2b3c'] },
}

/** How each caller shows who they are (specification "Authentication"). */
export const SECURITY_SCHEMES: Record<string, Json> = {
  integration: {
    type: 'oauth2',
    description:
      'An access token of an installation, a run’s callback token, or a surface token, which reads only, and only what its ' +
      'person may see: its pages may hold fewer records than `limit`, even none, while `has_more` is true.',
    flows: {
      authorizationCode: {
        authorizationUrl: `${BASE_URL}/oauth/authorize`,
        tokenUrl: `${BASE_URL}/oauth/token`,
        refreshUrl: `${BASE_URL}/oauth/token`,
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
  console: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'A person’s console session.' },
  admin: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'From POST /admin/auth/login, 8 hours.' },
  adminKey: { type: 'apiKey', in: 'header', name: 'X-Admin-Key', description: 'A key of an admin account.' },
}

/** The answer for one status: every code it can carry, with an example of each. */
export const errorResponse = (codes: readonly ErrorCode[], headers: readonly string[]): Json => ({
  description: codes.map((code) => `\`${code}\`: ${ERRORS[code][1]}`).join('\n\n'),
  headers: Object.fromEntries(headers.map((name) => [name, { $ref: `#/components/headers/${name}` }])),
  content: {
    'application/json': {
      schema: {
        allOf: [
          { $ref: '#/components/schemas/Error' },
          {
            type: 'object',
            // The other half of `allOf` says what else there is.
            properties: {
              error: {
                type: 'object',
                properties: { code: { type: 'string', enum: codes } },
                unevaluatedProperties: true,
              },
            },
          },
        ],
      },
      examples: Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }])),
    },
  },
})

/** What the gateway in front can answer (`infra/gateway-errors.ts`), and a function to a method that its path does not take. */
const GATEWAY_CODES = [
  'bad_request',
  'unauthorized',
  'forbidden',
  'not_found',
  'method_not_allowed',
  'payload_too_large',
  'unsupported_media_type',
  'rate_limited',
  'internal_error',
] as const satisfies ErrorCode[]

/** Requests that the gateway refuses before any operation sees them; every operation refers to it as its default. */
export const GATEWAY_ANSWER: Json = {
  ...errorResponse(GATEWAY_CODES, []),
  description:
    'Whatever the gateway in front answers by itself: a request over its size limit, one that it throttles, a fault of its ' +
    'own. So is a method that its path does not take. The body is the same; the request id is the gateway’s and does not begin with `req_`.',
}
