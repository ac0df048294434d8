import { type ErrorInfo, fail, type PlatformError } from '#shared/kernel/errors.ts'
import type { LimitScope } from '#shared/kernel/limit-scopes.ts'

/**
 * Returns `rate_limited` with the limit's scope and `Retry-After`.
 * @param retryAfter whole seconds until the next request fits
 */
export const rateLimited = (
  scope: LimitScope,
  retryAfter: number,
  { headers, ...info }: Pick<ErrorInfo, 'message' | 'fix' | 'headers' | 'cause'> = {},
): PlatformError =>
  fail('rate_limited', {
    ...info,
    details: { limit_scope: scope },
    headers: { ...headers, 'retry-after': String(retryAfter) },
  })
