import { GatewayResponse, type IRestApi, ResponseType } from 'aws-cdk-lib/aws-apigateway'
import type { Construct } from 'constructs'
import { errorBody } from '#shared/http/response.ts'
import { type ErrorCode, PlatformError } from '#shared/kernel/errors.ts'

type Answer = { code: ErrorCode; status?: number; message?: string; headers?: Record<string, string> }

/** Errors with which the gateway itself answers. There are few, because a greedy route sends every path to a function. */
const answers: [ResponseType, Answer][] = [
  // These keep the gateway's status.
  [ResponseType.DEFAULT_4XX, { code: 'bad_request' }],
  [ResponseType.DEFAULT_5XX, { code: 'internal_error' }],
  [ResponseType.BAD_REQUEST_BODY, { code: 'bad_request', status: 400 }],
  [ResponseType.BAD_REQUEST_PARAMETERS, { code: 'bad_request', status: 400 }],
  [ResponseType.UNAUTHORIZED, { code: 'unauthorized', status: 401 }],
  [ResponseType.ACCESS_DENIED, { code: 'forbidden', status: 403 }],
  // The request bypassed the edge.
  [ResponseType.INVALID_API_KEY, { code: 'forbidden', status: 403 }],
  [ResponseType.WAF_FILTERED, { code: 'forbidden', status: 403 }],
  // The gateway treats an unknown path as a missing signature.
  [ResponseType.MISSING_AUTHENTICATION_TOKEN, { code: 'not_found', status: 404 }],
  [ResponseType.RESOURCE_NOT_FOUND, { code: 'not_found', status: 404 }],
  [ResponseType.REQUEST_TOO_LARGE, { code: 'payload_too_large', status: 413, message: 'The request is too large.' }],
  [ResponseType.UNSUPPORTED_MEDIA_TYPE, { code: 'unsupported_media_type', status: 415 }],
  [ResponseType.THROTTLED, { code: 'rate_limited', status: 429, headers: { 'Retry-After': '1' } }],
  [ResponseType.QUOTA_EXCEEDED, { code: 'rate_limited', status: 429, headers: { 'Retry-After': '60' } }],
  [ResponseType.API_CONFIGURATION_ERROR, { code: 'internal_error', status: 500 }],
  // No execution is left for the function, or it failed without an answer. The gateway doesn't say which.
  [
    ResponseType.INTEGRATION_FAILURE,
    {
      code: 'unavailable',
      status: 503,
      message: 'The platform couldn’t handle the request at the moment.',
      headers: { 'Retry-After': '1' },
    },
  ],
  [ResponseType.INTEGRATION_TIMEOUT, { code: 'internal_error', status: 504 }],
]

/**
 * Gives the gateway's own answers the platform's body and an `X-Request-Id`.
 *
 * The id is the gateway's (`$context.requestId`). A header can only be mapped, so it lacks the prefix `req_` of other ids.
 */
export function addGatewayErrors(scope: Construct, restApi: IRestApi, baseUrl: string): GatewayResponse[] {
  return answers.map(([type, { code, status, message, headers }]) => {
    const error = new PlatformError(code, { message })
    return new GatewayResponse(scope, `Gateway${type.responseType}`, {
      restApi,
      type,
      ...(status !== undefined && { statusCode: String(status) }),
      responseHeaders: {
        'X-Request-Id': 'context.requestId',
        // Pages on other origins must be able to read the error. These answers contain no one's data.
        'Access-Control-Allow-Origin': "'*'",
        'Access-Control-Expose-Headers': "'X-Request-Id, Retry-After'",
        'Cache-Control': "'no-store'",
        ...Object.fromEntries(Object.entries(headers ?? {}).map(([name, value]) => [name, `'${value}'`])),
      },
      templates: { 'application/json': JSON.stringify(errorBody(error, '$context.requestId', `${baseUrl}/docs`)) },
    })
  })
}
