import { rateLimited, takeFromBucket } from '#shared/foundation/limits/index.ts'
import type { Deps, Work } from '#shared/foundation/work/index.ts'
import { PlatformError } from '../kernel/errors.ts'
import { LIMITS } from '../kernel/limits.ts'
import { addressKey } from './source-address.ts'

/**
 * Counts a failed authentication against its source address. Counting afterwards spares valid callers a write, and is enough
 * where an attempt costs a read or two. What asks another server (hosts' keys) or is slow by intent (passwords) counts before it.
 * @returns the error to answer with: the failure itself, or `rate_limited` if the address has used up its failures
 */
export const countFailure = async (deps: Deps, sourceIp: string | undefined, error: unknown): Promise<unknown> => {
  if (!(error instanceof PlatformError) || error.status !== 401) return error
  if (!deps.settings.addressRateLimits || !sourceIp) return error
  const taken = await takeFromBucket(deps, `address:${addressKey(sourceIp)}`, LIMITS.addressFailureRate)
  if (taken.allowed) return error
  return rateLimited('address', taken.retryAfter, { message: 'Too many failed authentications from this address.' })
}

/** Counts a failed sign-in against the caller's address, as a wrong credential counts elsewhere. */
export const countFailedSignIns = async <T>(work: Work, authenticate: () => Promise<T>): Promise<T> => {
  try {
    return await authenticate()
  } catch (error) {
    throw await countFailure(work, work.sourceIp, error)
  }
}
