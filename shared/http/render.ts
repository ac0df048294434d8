import type { APIGatewayProxyResult } from 'aws-lambda'
import { a2aErrorBody, a2aErrorData, a2aFailure, a2aMediaType, a2aVersion } from '../kernel/a2a-error.ts'
import { isUnanswered } from '../kernel/aws-calls.ts'
import { fail, PlatformError } from '../kernel/errors.ts'
import { signInChallenge } from '../kernel/host-resources.ts'
import { standardError, standardStatus } from '../kernel/oauth-errors.ts'
import { errorFormOf } from './error-form.ts'
import { renderErrorPage, wantsPage } from './error-page.ts'
import type { Exchange } from './exchange.ts'
import { orderFields } from './field-order.ts'
import type { StoredResponse } from './idempotency.ts'
import { idOf, jsonRpcError, jsonRpcFailure } from './json-rpc.ts'
import { isOpenToBrowsers } from './open-paths.ts'
import type { ListPage } from './paging.ts'
import { challenge, errorBody, RawResponse } from './response.ts'
import { personScopeChallenge } from './scope-challenge.ts'

const JSON_TYPE = 'application/json; charset=utf-8'

/**
 * Headers of every response. `/api/v1` may be called from any origin, without credentials
 * (contract/general.md#browsers).
 */
const common = ({ requestId, path, answerHeaders }: Exchange): Record<string, string> => ({
  'x-request-id': requestId,
  'x-content-type-options': 'nosniff',
  'strict-transport-security': 'max-age=31536000; includeSubDomains',
  ...(isOpenToBrowsers(path) && {
    'access-control-allow-origin': '*',
    'access-control-expose-headers':
      'X-Request-Id, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Policy, Retry-After, Idempotency-Replayed, Mcp-Session-Id, WWW-Authenticate, ETag',
  }),
  ...answerHeaders,
})

/** Prevents caching. Token endpoints also send the header for HTTP/1.0 caches, as RFC 6749 §5.1 requires. */
const noStore = ({ route }: Exchange): Record<string, string> => ({
  'cache-control': 'no-store',
  ...(route?.caller === 'client' && { pragma: 'no-cache' }),
})

/** Renders a handler's value as JSON with the declared status, before the common headers are added. */
export const renderValue = (exchange: Exchange, value: unknown): StoredResponse => {
  const endpoint = exchange.endpoint
  const caching = endpoint?.secret ? noStore(exchange) : {}
  if (value instanceof RawResponse) {
    return { status: value.status, headers: { ...caching, ...value.headers }, body: value.body as string }
  }
  const status = endpoint?.status ?? 200
  if (status === 204) return { status, headers: caching, body: '' }
  return { status, headers: { ...caching, 'content-type': JSON_TYPE }, body: JSON.stringify(ordered(endpoint, value)) }
}

/** Returns the value with its fields in the order of the declared response. */
const ordered = (endpoint: Exchange['endpoint'], value: unknown): unknown => {
  if (!endpoint?.response) return value
  const schema = endpoint.response()
  if (!endpoint.list) return orderFields(schema, value)
  const { items, ...rest } = value as ListPage<unknown>
  return { items: items.map((item) => orderFields(schema, item)), ...rest }
}

/** Builds the API Gateway result. Bytes are base64-encoded, as binary media types require. */
export const toResult = (exchange: Exchange, { status, headers, body }: StoredResponse): APIGatewayProxyResult => {
  const bytes = typeof body !== 'string'
  return {
    statusCode: status,
    headers: { ...common(exchange), ...headers },
    body: bytes ? Buffer.from(body as Uint8Array).toString('base64') : body,
    isBase64Encoded: bytes,
  }
}

/** Converts any thrown value to a platform error. Errors not meant for the client disclose no details. */
export const toPlatformError = (error: unknown): PlatformError => {
  if (error instanceof PlatformError) return error
  // AWS didn't answer in time, or turned the call away for now.
  return isUnanswered(error)
    ? fail('unavailable', { headers: { 'retry-after': '5' }, cause: error })
    : fail('internal_error', { cause: error })
}

export const renderError = (exchange: Exchange, error: PlatformError): StoredResponse => {
  const { settings } = exchange.deps
  // A person may have followed a link to an address that doesn't exist.
  const isForPeople = exchange.route ? exchange.route.showsErrors : error.code === 'not_found'
  if (isForPeople && wantsPage(exchange.headers)) return renderErrorPage(error, exchange.requestId, exchange.headers)
  const form = exchange.route ? errorFormOf(exchange.route) : 'platform'
  if (form === 'oauth') return renderStandardError(exchange, error)
  if (form === 'a2a-rpc' || form === 'a2a' || form === 'a2a-0.3') return renderA2aError(exchange, form, error)
  const shown = errorBody(error, exchange.requestId, `${settings.baseUrl}/docs`)
  return {
    status: error.status,
    headers: {
      'content-type': JSON_TYPE,
      ...noStore(exchange),
      ...challengeOf(exchange, error),
      ...error.headers,
    },
    body: JSON.stringify(form === 'mcp' ? jsonRpcFailure(idOf(exchange.body), error, shown) : shown),
  }
}

/** Renders an error by A2A (contract/a2a.md#errors). */
const renderA2aError = (
  exchange: Exchange,
  form: 'a2a-rpc' | 'a2a' | 'a2a-0.3',
  error: PlatformError,
): StoredResponse => {
  const failure = a2aFailure(error, exchange.requestId, exchange.deps.settings.baseUrl)
  const isRpc = form === 'a2a-rpc'
  const { code, message } = failure
  // The address of 1.0 speaks 0.3, too.
  const isLegacy =
    exchange.route?.speaks === 'a2a-0.3' || (isRpc && a2aVersion(exchange.headers, exchange.query) === '0.3')
  return {
    status: isRpc ? failure.rpcStatus : failure.status,
    headers: {
      'content-type': a2aMediaType(exchange.headers),
      ...noStore(exchange),
      ...challengeOf(exchange, error),
      ...error.headers,
    },
    body: JSON.stringify(
      isRpc
        ? jsonRpcError(idOf(exchange.body), code, message, a2aErrorData(failure, isLegacy))
        : a2aErrorBody(failure, isLegacy),
    ),
  }
}

/** Renders an error by RFC 6749 §5.2. A client that isn't authenticated is told the scheme that it may use. */
const renderStandardError = (exchange: Exchange, error: PlatformError): StoredResponse => {
  const status = standardStatus(error)
  const { 'retry-after': retryAfter } = error.headers
  return {
    status,
    headers: {
      'content-type': JSON_TYPE,
      ...noStore(exchange),
      ...(status === 401 &&
        exchange.route?.caller === 'client' && {
          'www-authenticate': `Basic realm="${exchange.deps.settings.baseUrl}/connect"`,
        }),
      ...(retryAfter !== undefined && { 'retry-after': retryAfter }),
    },
    body: JSON.stringify(standardError(error, exchange.route?.standard)),
  }
}

/**
 * Returns RFC 6750 challenges: on every 401, where a person's host lacks a scope, and on errors of the token endpoints, where
 * clients look for the code.
 */
const challengeOf = (
  { route, caller, headers, path, deps }: Exchange,
  error: PlatformError,
): Record<string, string> => {
  if (route?.caller === 'client') {
    return { 'www-authenticate': challenge({ error: error.code, error_description: error.message }) }
  }
  if (caller.kind === 'person' && error.code === 'insufficient_scope') {
    return personScopeChallenge(deps.settings, caller, path, error)
  }
  if (error.status !== 401) return {}
  if (route?.hosts) {
    return { 'www-authenticate': challenge(signInChallenge(deps.settings, path, headers.authorization !== undefined)) }
  }
  const resource = { resource_metadata: `${deps.settings.baseUrl}/.well-known/oauth-protected-resource` }
  return {
    'www-authenticate': challenge(
      headers.authorization
        ? { error: 'invalid_token', error_description: error.message, ...resource }
        : route?.caller === 'integration' || !route
          ? resource
          : { realm: route.group },
    ),
  }
}
