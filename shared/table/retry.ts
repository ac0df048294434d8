import { setTimeout as wait } from 'node:timers/promises'
import { fail } from '../kernel/errors.ts'
import { ConditionFailed } from './entity.ts'

/** Waits before the next attempt: exponential with full jitter, 10 ms doubling up to 400 ms. */
export const backoff = (attempt: number): Promise<void> => wait(Math.random() * Math.min(400, 10 * 2 ** attempt))

/** Most attempts, about five seconds of pauses in total. Many workers may write one installation's feed at once. */
const MAX_ATTEMPTS = 30

/**
 * Retries `attempt` while it loses to a concurrent write ({@link ConditionFailed}). Each attempt must read current state.
 * A condition with its own error (`otherwise`) isn't retried.
 * @param gaveUp returns the error after the last attempt. Default: `conflict`.
 */
export const retryOnConflict = async <T>(
  attempt: () => Promise<T>,
  gaveUp: (cause: ConditionFailed) => unknown = tooManyWriters,
): Promise<T> => {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error
      if (tries === MAX_ATTEMPTS) throw gaveUp(error)
      await backoff(tries - 1)
    }
  }
}

const tooManyWriters = (cause: ConditionFailed) =>
  fail('conflict', {
    message: 'Too many requests are changing this record at the same time.',
    fix: 'Send the request again.',
    headers: { 'retry-after': '1' },
    cause,
  })
