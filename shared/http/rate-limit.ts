import {
  type Rate,
  type RateDecision,
  rateLimited,
  returnToBucket,
  takeFromBucket,
} from '#shared/foundation/limits/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import type { LimitScope } from '../kernel/limit-scopes.ts'

export interface Bucket {
  name: string
  rate: Rate
  /** Value of `details.limit_scope` when this bucket rejects a request. */
  scope: LimitScope
}

/**
 * Takes one token from every bucket in parallel. If one bucket rejects the request, the others get their token back, so
 * a rejected request costs nothing.
 * @returns the rate limit headers, which describe the bucket with the least left
 * @throws `rate_limited` with `Retry-After` and the headers
 */
export const takeRateLimits = async (deps: Deps, buckets: readonly Bucket[]): Promise<Record<string, string>> => {
  const results = await Promise.all(buckets.map((bucket) => takeFromBucket(deps, bucket.name, bucket.rate)))
  const refusedAt = results.findIndex((one) => !one.allowed)
  if (refusedAt < 0) return headersOf(least(results))
  await giveBackRateLimits(
    deps,
    buckets.filter((_, i) => results[i]?.allowed),
  )
  const [bucket, one] = [buckets[refusedAt] as Bucket, results[refusedAt] as RateDecision]
  throw rateLimited(bucket.scope, one.retryAfter, {
    message: `The request exceeds ${round(bucket.rate.perSecond)} requests per second (burst ${bucket.rate.burst}) for this ${bucket.scope}.`,
    fix: `Wait ${one.retryAfter} s (Retry-After), then send the request again.`,
    headers: headersOf(one),
  })
}

/** Gives back the tokens of a request that is rejected for another reason. */
export const giveBackRateLimits = (deps: Deps, buckets: readonly Bucket[]): Promise<unknown> =>
  Promise.all(buckets.map(({ name, rate }) => returnToBucket(deps, name, rate)))

const least = (results: RateDecision[]): RateDecision => results.reduce((a, b) => (b.remaining < a.remaining ? b : a))

const headersOf = ({ rate, remaining }: RateDecision): Record<string, string> => ({
  'x-ratelimit-limit': String(rate.burst),
  'x-ratelimit-remaining': String(remaining),
  'x-ratelimit-policy': `${round(rate.perSecond)};burst=${rate.burst}`,
})

const round = (n: number): number => Math.round(n * 1_000) / 1_000
