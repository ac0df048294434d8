import type { ServerResponse } from 'node:http'
import { errorBody } from '#shared/http/response.ts'
import { PlatformError } from '#shared/kernel/errors.ts'
import { DISK_FULL } from '../disk.ts'
import type { ApiModel } from '../template/model.ts'
import type { Exchange } from './event.ts'

/** Responses of API Gateway itself, when no function answers (developer guide, "Gateway response types"). */
const TYPES = {
  MISSING_AUTHENTICATION_TOKEN: {
    status: 403,
    message: 'Missing Authentication Token',
    error: 'MissingAuthenticationTokenException',
  },
  REQUEST_TOO_LARGE: { status: 413, message: 'Request Too Long', error: 'RequestTooLargeException' },
  INTEGRATION_TIMEOUT: { status: 504, message: 'Endpoint request timed out', error: 'InternalServerErrorException' },
  INTEGRATION_FAILURE: { status: 502, message: 'Internal server error', error: 'InternalServerErrorException' },
  BAD_REQUEST_BODY: { status: 400, message: 'Invalid request body', error: 'BadRequestException' },
  API_CONFIGURATION_ERROR: { status: 500, message: 'Internal server error', error: 'InternalServerErrorException' },
  /** Only here. The template has no answer for it. */
  DISK_FULL: { status: 503, message: DISK_FULL, error: 'ServiceUnavailableException' },
} as const

/** Errors of the local run, in place of the template's answers. */
const OWN: { [type in FailureType]?: PlatformError } = {
  DISK_FULL: new PlatformError('unavailable', {
    message: DISK_FULL,
    fix: 'Make space on the disk of the data folder, then send the request again with the same Idempotency-Key.',
  }),
}

/** A gateway response type that occurs locally. */
export type FailureType = keyof typeof TYPES

/** Returns true for a failure of the platform, not of the request. */
export const isServerFault = (type: FailureType): boolean => TYPES[type].status >= 500

type Context = Record<string, string>

const contextOf = (api: ApiModel, exchange: Exchange, type: FailureType): Context => {
  const { message } = TYPES[type]
  return {
    'context.requestId': exchange.requestId,
    'context.extendedRequestId': exchange.requestId,
    'context.apiId': api.id,
    'context.stage': api.stage,
    'context.path': exchange.path,
    'context.httpMethod': exchange.method,
    'context.identity.sourceIp': exchange.sourceIp,
    'context.requestTimeEpoch': String(exchange.receivedAt.getTime()),
    'context.error.message': message,
    'context.error.messageString': JSON.stringify(message),
    'context.error.responseType': type,
    'context.error.validationErrorString': '',
  }
}

/** Replaces `$context.…` in a template. As on AWS, unknown variables become empty. */
const fill = (template: string, context: Context): string =>
  template.replace(/\$\{?(context\.[A-Za-z.]*[A-Za-z])\}?/g, (_, name: string) => context[name] ?? '')

/** Evaluates `'static'` or `context.requestId`. Other mappings (headers of the request) have no value here. */
const headerValue = (mapping: string, context: Context): string | undefined =>
  /^'.*'$/.test(mapping) ? mapping.slice(1, -1) : context[mapping]

/**
 * Answers as API Gateway itself does: with the template's gateway response of that type, else of its class
 * (`DEFAULT_4XX`, `DEFAULT_5XX`), else with the plain message.
 */
export const answerFailure = (
  {
    api,
    response,
    exchange,
    baseUrl,
  }: { api: ApiModel; response: ServerResponse; exchange: Exchange; baseUrl: string },
  type: FailureType,
): void => {
  const { status, message, error: errorType } = TYPES[type]
  const own = api.gatewayResponses.get(type)
  const general = api.gatewayResponses.get(status < 500 ? 'DEFAULT_4XX' : 'DEFAULT_5XX')
  const chosen = own ?? general
  const context = contextOf(api, exchange, type)
  // The template contains only the deployed address, so links are changed to the local one.
  const local = (text: string) => text.replaceAll(api.url, baseUrl)
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    'x-amzn-requestid': exchange.requestId,
    'x-amzn-errortype': errorType,
  }
  for (const [name, mapping] of Object.entries(chosen?.headers ?? {})) {
    const value = headerValue(mapping, context)
    if (value !== undefined) headers[name.toLowerCase()] = local(value)
  }
  const template = chosen?.templates['application/json']
  const error = OWN[type]
  const filled = template === undefined ? JSON.stringify({ message }) : local(fill(template, context))
  const body = error ? JSON.stringify(errorBody(error, exchange.requestId, `${baseUrl}/docs`)) : filled
  response.writeHead(error ? status : (chosen?.statusCode ?? status), {
    ...headers,
    'content-length': Buffer.byteLength(body),
  })
  response.end(exchange.method === 'HEAD' ? undefined : body)
}
