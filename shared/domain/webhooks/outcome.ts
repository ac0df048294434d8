import type { Attempt } from '../../entities/webhooks.ts'
import { LIMITS } from '../../kernel/limits.ts'
import type { OutgoingResult } from '../ports.ts'

/** Any 2xx answer is success; the body is ignored (specification "Receiving rules" 1). */
export const succeeded = (attempt: Pick<Attempt, 'error'>): boolean => attempt.error === null

const isSuccess = (status: number | undefined): boolean => status !== undefined && status >= 200 && status < 300

/**
 * What is written down of an attempt. `error` is null exactly when the receiver took the event: also with a 2xx whose body broke
 * off, but not with one whose body was still coming when the time was up, which is to the last byte (decisions §6).
 */
export const attemptOf = (result: OutgoingResult, n: number, at: number): Attempt => {
  const made = { n, at, duration_ms: result.durationMs }
  if (result.kind === 'failure') {
    const taken = isSuccess(result.status) && result.phase !== 'timeout'
    return {
      ...made,
      response_code: result.status ?? null,
      response_body: null,
      error: taken ? null : result.message,
      hint: taken ? null : result.hint,
    }
  }
  const { status, body, hint } = result
  const taken = isSuccess(status)
  return {
    ...made,
    response_code: status,
    response_body: beginning(body),
    error: taken ? null : `The receiver answered HTTP ${status}.`,
    hint: taken ? null : (hint ?? null),
  }
}

/** An attempt that workers began several times and never finished. */
export const lostAttempt = (n: number, at: number): Attempt => ({
  n,
  at,
  duration_ms: 0,
  response_code: null,
  response_body: null,
  error: 'The platform could not finish this attempt. The receiver may have got it.',
  hint: 'This is not the receiver’s fault. Look for the event among those that it has, by the event’s id.',
})

/** Why a subscription was disabled, in words. */
export const errorText = ({ error, hint }: Attempt): string => [error, hint].filter(Boolean).join(' ')

/**
 * The first 1 KiB as text. Control characters go, and what was cut in the middle: the history is read by people, and each
 * would take six bytes of its JSON.
 */
const beginning = (body: Uint8Array): string =>
  new TextDecoder()
    .decode(body.subarray(0, LIMITS.deliveryKeptBytes), { stream: body.length > LIMITS.deliveryKeptBytes })
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
    .replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f]/g, '')
