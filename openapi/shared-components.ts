import { ERRORS, type ErrorCode } from '#shared/kernel/errors.ts'
import { SCOPES } from '#shared/kernel/scopes.ts'
import type { Json } from './schemas.ts'

/** Placeholder for the base address in the built document. The pages function replaces it with the deployment's address. */
export const BASE_URL = 'https://base-url.invalid'

const REQUEST_ID = 'req_01kae5m1v8w6c3x9q2r7t4y0zn'

/** Schema of the error body (contract/errors.md#error-body). */
export const ERROR_SCHEMA: Json = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message', 'fix', 'docs_url', 'request_id', 'details'],
      properties: {
        code: { type: 'string', enum: Object.keys(ERRORS), description: 'Stable. Match on it in your code.' },
        message: { type: 'string', description: 'Explanation for people. The text can change.' },
        fix: { type: 'string', description: 'How to fix the error.' },
        docs_url: { type: 'string', format: 'uri' },
        request_id: { type: 'string', description: 'Equals X-Request-Id.', examples: [REQUEST_ID] },
        details: { type: 'object', additionalProperties: true, description: 'Further data, depending on the code.' },
      },
    },
  },
}

/** Builds one example response per code. Operations refer to the codes they can return. */
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
  schema: { type: 'string', minLength: 1, maxLength: 255, examples: ['7f1c2a9e-3b0d-4c55-9d0f-0f6f5a1f2b3c'] },
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
  admin: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'The token from POST /admin/auth/login, valid for 8 hours.',
  },
  adminKey: { type: 'apiKey', in: 'header', name: 'X-Admin-Key', description: 'An admin key.' },
}

/** Builds the response for one status, with an example of every code it can have. */
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
            // The other part of `allOf` declares the remaining fields.
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

/** Error codes of the gateway itself (`infra/gateway-errors.ts`), and of a method that a path doesn't support. */
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

/** Default response of every operation, for requests that the gateway refuses before an operation receives them. */
export const GATEWAY_ANSWER: Json = {
  ...errorResponse(GATEWAY_CODES, []),
  description:
    'An error from the gateway in front of the platform: the request is too large or was throttled, the gateway failed, or the ' +
    'path doesn’t support the method. The body is the same as for other errors, but the request ID doesn’t start with `req_`.',
}
