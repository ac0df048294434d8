import { LIMITS } from '#shared/kernel/limits.ts'
import type { OutgoingResult } from '#shared/kernel/ports/outgoing-http.ts'
import type { Attempt } from './entity.ts'

/** Returns true for any 2xx response. The body is ignored (contract/events-and-webhooks.md#outcomes). */
export const succeeded = (attempt: Pick<Attempt, 'error'>): boolean => attempt.error === null

const isSuccess = (status: number | undefined): boolean => status !== undefined && status >= 200 && status < 300

/**
 * Builds the record of an attempt. `error` is null exactly if the receiver accepted the event. A 2xx whose body broke
 * off counts as accepted. A 2xx whose body was incomplete at the deadline does not: the deadline covers the last byte
 * (contract/events-and-webhooks.md#outcomes).
 */
export const attemptOf = (result: OutgoingResult, n: number, at: number): Attempt => {
  const made = { n, at, duration_ms: result.durationMs }
  if (result.kind === 'failure') {
    const isAccepted = isSuccess(result.status) && result.phase !== 'timeout'
    return {
      ...made,
      response_code: result.status ?? null,
      response_body: null,
      error: isAccepted ? null : result.message,
      hint: isAccepted ? null : result.hint,
    }
  }
  const { status, body, hint } = result
  const isAccepted = isSuccess(status)
  return {
    ...made,
    response_code: status,
    response_body: bodyExcerpt(body),
    error: isAccepted ? null : `The receiver answered HTTP ${status}.`,
    hint: isAccepted ? null : (hint ?? null),
  }
}

/** Builds the record of an attempt that workers started several times and never finished. */
export const lostAttempt = (n: number, at: number): Attempt => ({
  n,
  at,
  duration_ms: 0,
  response_code: null,
  response_body: null,
  error: 'The platform could not finish this attempt. The receiver may have received the event.',
  hint: 'The receiver is not at fault. Search its received events for the event’s id.',
})

/** Returns the reason for disabling a subscription as text. */
export const errorText = ({ error, hint }: Attempt): string => [error, hint].filter(Boolean).join(' ')

/**
 * Returns the first 1 KiB as text, without control characters and without a character cut in the middle. People read
 * the history, and each such character would take six bytes of JSON.
 */
const bodyExcerpt = (body: Uint8Array): string =>
  new TextDecoder()
    .decode(body.subarray(0, LIMITS.deliveryKeptBytes), { stream: body.length > LIMITS.deliveryKeptBytes })
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
    .replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f]/g, '')
