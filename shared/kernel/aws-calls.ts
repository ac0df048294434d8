import { DaySigner } from './aws-signature.ts'

/** Attempts of a call of an AWS service, the first included. */
const MAX_ATTEMPTS = 4

/** Time in ms that one attempt may take. A call that works takes milliseconds, and a broken connection never answers. */
const ATTEMPT_MS = 4_000

/** Longest time in ms that a call takes with all attempts and the SDK's pauses between them. */
export const CALL_MS = MAX_ATTEMPTS * ATTEMPT_MS + 3_000

const nothing = (): void => {}

/**
 * Logger without `info`. The clients' default logger makes them prepare every input and output for logging, which takes a
 * seventh of the CPU of a query of 20 items.
 */
export const SILENT = { trace: nothing, debug: nothing, warn: nothing, error: nothing } as unknown as Console

/**
 * Settings of every client of the SDK. All attempts fit into the time of the shortest function, so a connection that hangs costs
 * a retry and not the invocation.
 */
export const AWS_CALLS = {
  maxAttempts: MAX_ATTEMPTS,
  requestHandler: {
    connectionTimeout: 2_000,
    requestTimeout: ATTEMPT_MS,
    // Without it, the handler only warns.
    throwOnRequestTimeout: true,
    // Ends an answer whose rest never comes.
    socketTimeout: ATTEMPT_MS,
  },
  logger: SILENT,
  // Resolves the middleware once for each command, not at each call.
  cacheMiddleware: true,
  signerConstructor: DaySigner,
}

/** Removes the middleware that composes a user agent for each call, which takes 17 µs of CPU. AWS asks for none. */
export const withoutUserAgent = <Client extends { middlewareStack: { remove(name: string): boolean } }>(
  client: Client,
): Client => {
  client.middlewareStack.remove('getUserAgentMiddleware')
  return client
}

const UNANSWERED: ReadonlySet<unknown> = new Set([
  'TimeoutError',
  'ThrottlingException',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'SlowDown',
  'InternalServerError',
  'InternalError',
  'ServiceUnavailable',
  'ServiceUnavailableException',
  'TransactionInProgressException',
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
])

interface AwsError {
  name?: unknown
  code?: unknown
  CancellationReasons?: { Code?: string }[]
}

/** Returns true for the error of a call that a service of AWS didn't answer in time, or turned away for now. */
export const isUnanswered = (error: unknown): boolean => {
  const { name, code, CancellationReasons } = (error ?? {}) as AwsError
  if (UNANSWERED.has(name) || UNANSWERED.has(code)) return true
  // Conditions and faulty requests have errors of their own before it comes to this.
  return name === 'TransactionCanceledException' && CancellationReasons !== undefined
}
