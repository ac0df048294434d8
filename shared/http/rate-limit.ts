import {
  type Rate,
  type RateDecision,
  rateLimited,
  returnTogether,
  takeFromBucket,
  takeTogether,
} from '#shared/foundation/limits/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import type { LimitScope } from '../kernel/limit-scopes.ts'

export interface Bucket {
  name: string
  rate: Rate
  /** Value of `details.limit_scope` when this bucket rejects a request. */
  scope: LimitScope
  /** Requests that it counts, if not all. */
  counts?: string
}

/**
 * Takes one token from a bucket.
 * @returns the rate limit headers
 * @throws `rate_limited` with `Retry-After` and the headers
 */
export const takeRateLimit = async (deps: Deps, bucket: Bucket): Promise<Record<string, string>> =>
  headersOrThrow([bucket], [await takeFromBucket(deps, bucket.name, bucket.rate)])

/** Buckets in one item, the first of which bounds the requests of all others. */
export interface SharedBuckets {
  whole: Bucket
  part: Bucket
  /** Bucket of requests that wait for an agent, for such a request. */
  waiting?: Bucket | undefined
}

const partOf = ({ name, rate }: Bucket) => ({ field: name, rate })
const wholeOf = ({ rate }: Bucket) => ({ field: 'tat', rate })
const waitingOf = (waiting: Bucket | undefined) => (waiting ? [partOf(waiting)] : [])

/**
 * Takes one token from all of the buckets. If one of them rejects the request, nothing is taken from the others, so a rejected request
 * costs nothing.
 * @returns the rate limit headers, which describe the bucket with the least left
 * @throws `rate_limited` with `Retry-After` and the headers
 */
export const takeSharedRateLimits = async (
  deps: Deps,
  { whole, part, waiting }: SharedBuckets,
): Promise<Record<string, string>> =>
  headersOrThrow(
    waiting ? [part, whole, waiting] : [part, whole],
    await takeTogether(deps, whole.name, [partOf(part), wholeOf(whole), ...waitingOf(waiting)]),
  )

const headersOrThrow = (buckets: readonly Bucket[], results: RateDecision[]): Record<string, string> => {
  const refusedAt = results.findIndex((one) => !one.allowed)
  if (refusedAt < 0) return headersOf(least(results))
  const [bucket, one] = [buckets[refusedAt] as Bucket, results[refusedAt] as RateDecision]
  throw rateLimited(bucket.scope, one.retryAfter, {
    message: `The request exceeds ${round(bucket.rate.perSecond)} ${bucket.counts ?? 'requests'} per second (burst ${bucket.rate.burst}) for this ${bucket.scope}.`,
    fix: `Wait ${one.retryAfter} s (Retry-After), then send the request again.`,
    headers: headersOf(one),
  })
}

/** Gives back the tokens that a request took, except that of the part if it keeps that. */
export const giveBackSharedRateLimits = (
  deps: Deps,
  { whole, part, waiting }: SharedBuckets,
  keepsPart = false,
): Promise<void> =>
  returnTogether(deps, whole.name, [wholeOf(whole), ...waitingOf(waiting), ...(keepsPart ? [] : [partOf(part)])])

const least = (results: RateDecision[]): RateDecision => results.reduce((a, b) => (b.remaining < a.remaining ? b : a))

const headersOf = ({ rate, remaining }: RateDecision): Record<string, string> => ({
  'x-ratelimit-limit': String(rate.burst),
  'x-ratelimit-remaining': String(remaining),
  'x-ratelimit-policy': `${round(rate.perSecond)};burst=${rate.burst}`,
})

const round = (n: number): number => Math.round(n * 1_000) / 1_000
