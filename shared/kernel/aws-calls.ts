/** Attempts of a call of an AWS service, the first included. */
const MAX_ATTEMPTS = 4

/** Time in ms that one attempt may take. A call that works takes milliseconds, and a broken connection never answers. */
const ATTEMPT_MS = 4_000

/** Longest time in ms that a call takes with all attempts and the SDK's pauses between them. */
export const CALL_MS = MAX_ATTEMPTS * ATTEMPT_MS + 3_000

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
}
