import { errorText } from './error-text.ts'
import { type ErrorCode, type ErrorInfo, PlatformError } from './errors.ts'
import { JSON_RPC } from './json-rpc.ts'

/** Errors that A2A defines: code in JSON-RPC, name in `google.rpc.Status`, and the platform's code of the same HTTP status. */
const A2A_ERRORS = {
  TASK_NOT_FOUND: [-32_001, 'NOT_FOUND', 'not_found', 'The task doesn’t exist, or you didn’t start it.'],
  TASK_NOT_CANCELABLE: [-32_002, 'FAILED_PRECONDITION', 'bad_request', 'The task has ended.'],
  UNSUPPORTED_OPERATION: [-32_004, 'FAILED_PRECONDITION', 'bad_request', 'The task’s state doesn’t allow this.'],
  CONTENT_TYPE_NOT_SUPPORTED: [-32_005, 'INVALID_ARGUMENT', 'bad_request', 'The agent takes no such message.'],
  VERSION_NOT_SUPPORTED: [-32_009, 'FAILED_PRECONDITION', 'bad_request', 'This version of A2A isn’t supported here.'],
  METHOD_NOT_FOUND: [JSON_RPC.methodNotFound, 'UNIMPLEMENTED', 'bad_request', 'The method doesn’t exist.'],
  INVALID_REQUEST: [
    JSON_RPC.invalidRequest,
    'INVALID_ARGUMENT',
    'bad_request',
    'The body must be one JSON-RPC request.',
  ],
  INVALID_PARAMS: [JSON_RPC.invalidParams, 'INVALID_ARGUMENT', 'bad_request', 'The parameters are invalid.'],
  IDEMPOTENCY_KEY_REUSED: [
    JSON_RPC.invalidParams,
    'INVALID_ARGUMENT',
    'bad_request',
    'This messageId was sent with another message in the last 24 hours.',
  ],
} as const satisfies Record<string, readonly [number, string, ErrorCode, string]>

export type A2aReason = keyof typeof A2A_ERRORS

const PROTOCOL_DOMAIN = 'a2a-protocol.org'

/** An error that A2A defines. */
export class A2aError extends PlatformError {
  readonly reason: A2aReason
  /** @param fields what is wrong with each parameter */
  constructor(reason: A2aReason, { fields, ...info }: ErrorInfo & { fields?: Record<string, string[]> } = {}) {
    const [, , code, message] = A2A_ERRORS[reason]
    super(code, { message, ...info, ...(fields && { details: { fields } }) })
    this.reason = reason
  }
}

/** Names of HTTP statuses in `google.rpc.Status`. */
const STATUS_NAMES: Record<number, string> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  405: 'UNIMPLEMENTED',
  409: 'FAILED_PRECONDITION',
  413: 'OUT_OF_RANGE',
  415: 'INVALID_ARGUMENT',
  422: 'INVALID_ARGUMENT',
  429: 'RESOURCE_EXHAUSTED',
}

/** Errors of parameters, which every version of A2A has a code for. */
const OF_PARAMETERS: ReadonlySet<string> = new Set([
  'validation_error',
  'invalid_arguments',
  'tool_not_offered',
  'blocked_target',
])

export interface A2aFailure {
  /** Code in JSON-RPC. Errors that A2A doesn't define have the HTTP status. */
  code: number
  /** HTTP status of the HTTP+JSON binding. */
  status: number
  /** HTTP status of the JSON-RPC binding. */
  rpcStatus: number
  name: string
  message: string
  details: object[]
}

type Violation = { field: string; description: string }

const violationsOf = ({ details: { fields } }: PlatformError): Violation[] =>
  typeof fields === 'object' && fields !== null
    ? Object.entries(fields as Record<string, string[]>).flatMap(([field, texts]) =>
        texts.map((description) => ({ field, description })),
      )
    : []

/**
 * Describes an error for A2A clients (contract/a2a.md#errors). Its ErrorInfo has the platform's fix, the address of the
 * documentation and the request's id in its metadata.
 */
export const a2aFailure = (error: PlatformError, requestId: string, baseUrl: string): A2aFailure => {
  const violations = violationsOf(error)
  const bad =
    violations.length > 0 ? [{ '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations: violations }] : []
  const metadata = { fix: error.fix, docs_url: `${baseUrl}/docs#${error.code}`, request_id: requestId }
  const info = (reason: string, domain: string, more: Record<string, string> = {}) => ({
    '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
    reason,
    domain,
    metadata: { ...metadata, ...more },
  })
  const message = errorText(error)
  if (error instanceof A2aError) {
    const [code, name] = A2A_ERRORS[error.reason]
    const details = [info(error.reason, PROTOCOL_DOMAIN), ...bad]
    return { code, status: error.status, rpcStatus: 200, name, message, details }
  }
  if (error.code === 'unsupported_media_type') {
    const [code, name] = A2A_ERRORS.CONTENT_TYPE_NOT_SUPPORTED
    const details = [info('CONTENT_TYPE_NOT_SUPPORTED', PROTOCOL_DOMAIN)]
    return { code, status: error.status, rpcStatus: error.status, name, message, details }
  }
  const texts = Object.entries(error.details).flatMap(([name, value]): [string, string][] => {
    const text = Array.isArray(value) ? value.filter((one) => typeof one === 'string').join(' ') : value
    return typeof text === 'string' ? [[name, text]] : []
  })
  const details = [info(error.code.toUpperCase(), new URL(baseUrl).hostname, Object.fromEntries(texts)), ...bad]
  if (OF_PARAMETERS.has(error.code)) {
    return { code: JSON_RPC.invalidParams, status: 400, rpcStatus: 200, name: 'INVALID_ARGUMENT', message, details }
  }
  const { status } = error
  const name = STATUS_NAMES[status] ?? (status === 503 ? 'UNAVAILABLE' : 'INTERNAL')
  const code = error.code === 'bad_request' ? JSON_RPC.parseError : status >= 500 ? JSON_RPC.internalError : status
  return { code, status, rpcStatus: status, name, message, details }
}

/**
 * Returns the details of an error as `data` of JSON-RPC. Released clients of 0.3 can't read a list, so they get the ErrorInfo, with the
 * field violations in it.
 */
export const a2aErrorData = ({ details: [info, bad], details }: A2aFailure, isLegacy: boolean): object =>
  isLegacy ? { ...bad, ...info } : details

/** Body of an error in the HTTP+JSON binding: `google.rpc.Status`, or the error of a JSON-RPC response in version 0.3. */
export const a2aErrorBody = (failure: A2aFailure, isLegacy: boolean): object => {
  const { code, status, name, message, details } = failure
  return isLegacy
    ? { code, message, data: a2aErrorData(failure, isLegacy) }
    : { error: { code: status, status: name, message, details } }
}

const VERSION = 'a2a-version'

/** Returns the version of a request as `major.minor`. A request without one speaks 0.3, by the protocol's own rule. */
export const a2aVersion = (
  headers: Readonly<Record<string, string>>,
  query: readonly (readonly [string, string])[],
): string => {
  const sent = headers[VERSION] ?? query.find(([name]) => name.toLowerCase() === VERSION)?.[1] ?? ''
  const [, known] = /^(\d+\.\d+)(?:\.\d+)?$/.exec(sent.trim()) ?? []
  return sent.trim() === '' ? '0.3' : (known ?? sent.trim())
}

/** Returns the media type of an answer: that of the request's body. */
export const a2aMediaType = ({ 'content-type': type = '' }: Record<string, string>): string =>
  type.toLowerCase().startsWith('application/a2a+json') ? 'application/a2a+json' : 'application/json; charset=utf-8'
