import type { Work } from '#shared/foundation/work/index.ts'
import { MINUTE } from '#shared/kernel/clock.ts'
import { fail } from '#shared/kernel/errors.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import type { SignedIn } from './sessions.ts'

/**
 * Requires that the person signed in a moment ago, for changes that outlast a stolen session.
 *
 * @param what the change, as the subject of a sentence
 * @param margin time that the change itself may take
 * @throws `confirmation_required`
 */
export const requireRecentSignIn = (
  { clock }: Pick<Work, 'clock'>,
  { session }: Pick<SignedIn, 'session'>,
  what: string,
  margin = 0,
): void => {
  if (session.created_at + LIMITS.confirmationLife - margin > clock.now()) return
  throw fail('confirmation_required', {
    message: `${what} requires that you signed in within the last ${(LIMITS.confirmationLife - margin) / MINUTE} minutes.`,
    fix: 'Sign in again, then repeat the request.',
    details: { confirm_with: 'sign_in' },
  })
}
