import type { APIGatewayProxyResult } from 'aws-lambda'
import { fail, PlatformError } from '../kernel/errors.ts'
import { challenge, errorBody, RawAnswer } from './answer.ts'
import type { Exchange } from './exchange.ts'
import type { KeptAnswer } from './idempotency.ts'

const JSON_TYPE = 'application/json; charset=utf-8'

/** Headers of every answer. `/api/v1` may be called from any origin, without credentials (decisions §1 "Browsers"). */
const common = ({ requestId, path, answerHeaders }: Exchange): Record<string, string> => ({
  'x-request-id': requestId,
  'x-content-type-options': 'nosniff',
  'strict-transport-security': 'max-age=31536000; includeSubDomains',
  ...(path.startsWith('/api/v1/') && {
    'access-control-allow-origin': '*',
    'access-control-expose-headers':
      'X-Request-Id, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Policy, Retry-After, Idempotency-Replayed',
  }),
  ...answerHeaders,
})

/** For caches of HTTP/1.0 too where RFC 6749 §5.1 asks for it: at the token endpoints. */
const noStore = ({ endpoint }: Exchange): Record<string, string> => ({
  'cache-control': 'no-store',
  ...(endpoint?.caller === 'client' && { pragma: 'no-cache' }),
})

/** The declared status and JSON of a handler's value, before the headers that every answer has. */
export const answerOf = (exchange: Exchange, value: unknown): KeptAnswer => {
  const endpoint = exchange.endpoint
  const caching = endpoint?.secret ? noStore(exchange) : {}
  if (value instanceof RawAnswer) {
    return { status: value.status, headers: { ...caching, ...value.headers }, body: value.body as string }
  }
  const status = endpoint?.status ?? 200
  if (status === 204) return { status, headers: caching, body: '' }
  return { status, headers: { ...caching, 'content-type': JSON_TYPE }, body: JSON.stringify(value) }
}

/** What API Gateway gets. Bytes go out in base64, as binary media types need. */
export const toResult = (exchange: Exchange, { status, headers, body }: KeptAnswer): APIGatewayProxyResult => {
  const bytes = typeof body !== 'string'
  return {
    statusCode: status,
    headers: { ...common(exchange), ...headers },
    body: bytes ? Buffer.from(body as Uint8Array).toString('base64') : body,
    isBase64Encoded: bytes,
  }
}

/** Any thrown value as the platform's error. What was not meant for the client says nothing of what went wrong. */
export const toPlatformError = (error: unknown): PlatformError =>
  error instanceof PlatformError ? error : fail('internal_error', { cause: error })

export const errorAnswer = (exchange: Exchange, error: PlatformError): KeptAnswer => {
  const { settings } = exchange.deps
  return {
    status: error.status,
    headers: {
      'content-type': JSON_TYPE,
      ...noStore(exchange),
      ...challengeOf(exchange, error),
      ...error.headers,
    },
    body: JSON.stringify(errorBody(error, exchange.requestId, `${settings.baseUrl}/docs`)),
  }
}

/** RFC 6750 challenges: on every 401, and on the token endpoints' errors, where clients look for the code. */
const challengeOf = ({ endpoint, headers, deps }: Exchange, error: PlatformError): Record<string, string> => {
  if (endpoint?.caller === 'client') {
    return { 'www-authenticate': challenge({ error: error.code, error_description: error.message }) }
  }
  if (error.status !== 401) return {}
  const resource = { resource_metadata: `${deps.settings.baseUrl}/.well-known/oauth-protected-resource` }
  return {
    'www-authenticate': challenge(
      headers.authorization
        ? { error: 'invalid_token', error_description: error.message, ...resource }
        : endpoint?.caller === 'integration' || !endpoint
          ? resource
          : { realm: endpoint.group },
    ),
  }
}
