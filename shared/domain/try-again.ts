import { fail } from '../kernel/errors.ts'
import { ConditionFailed } from '../table/entity.ts'

/** Far more often than anything loses that reads afresh each time. */
const MAX_TRIES = 8

/**
 * Tries again what lost against somebody else's change. Each attempt begins with what it reads; a condition that carries its own error
 * ends it.
 * @throws `conflict` where too many others change the same at once
 */
export const tryAgain = async <T>(attempt: () => Promise<T>): Promise<T> => {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error
      if (tries === MAX_TRIES) {
        throw fail('conflict', {
          message: 'Too many requests change this at the same moment.',
          fix: 'Send the request again.',
          headers: { 'retry-after': '1' },
          cause: error,
        })
      }
    }
  }
}
