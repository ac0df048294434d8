import type { Deps } from '../domain/deps.ts'
import { take } from '../domain/limits/gcra.ts'
import { fail, PlatformError } from '../kernel/errors.ts'
import { LIMITS } from '../kernel/limits.ts'
import { addressKey } from './source-address.ts'

/**
 * Counts a failed authentication against its source address.
 * @returns the error to answer with: the failure itself, or `rate_limited` once the address used up its failures
 */
export const countFailure = async (deps: Deps, sourceIp: string | undefined, error: unknown): Promise<unknown> => {
  if (!(error instanceof PlatformError) || error.status !== 401) return error
  if (!deps.settings.addressRateLimits || !sourceIp) return error
  const taken = await take(deps, `address:${addressKey(sourceIp)}`, LIMITS.addressFailureRate)
  if (taken.allowed) return error
  return fail('rate_limited', {
    message: 'Too many failed authentications from this address.',
    details: { limit_scope: 'address' },
    headers: { 'retry-after': String(taken.retryAfter) },
  })
}
