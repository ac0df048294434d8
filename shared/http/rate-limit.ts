import type { Deps } from '../domain/deps.ts'
import { giveBack, type Rate, type Taken, take } from '../domain/limits/gcra.ts'
import { fail } from '../kernel/errors.ts'

export interface Bucket {
  name: string
  rate: Rate
  /** What `details.limit_scope` says when this bucket refuses. */
  scope: string
}

/**
 * Takes one from every bucket at the same time. What one refuses, the others give back, so that a refused request costs
 * nobody anything.
 * @returns the rate headers, which describe the bucket with the least left
 * @throws `rate_limited` with `Retry-After` and the headers
 */
export const limit = async (deps: Deps, buckets: readonly Bucket[]): Promise<Record<string, string>> => {
  const taken = await Promise.all(buckets.map((bucket) => take(deps, bucket.name, bucket.rate)))
  const refused = taken.findIndex((one) => !one.allowed)
  if (refused < 0) return headersOf(least(taken))
  await restore(
    deps,
    buckets.filter((_, i) => taken[i]?.allowed),
  )
  const [bucket, one] = [buckets[refused] as Bucket, taken[refused] as Taken]
  throw fail('rate_limited', {
    message: `More than ${round(bucket.rate.perSecond)} requests a second (burst ${bucket.rate.burst}) for this ${bucket.scope}.`,
    fix: `Wait ${one.retryAfter} s (Retry-After), then send the request again.`,
    details: { limit_scope: bucket.scope },
    headers: { ...headersOf(one), 'retry-after': String(one.retryAfter) },
  })
}

/** Gives back what was taken for a request that is refused for another reason. */
export const restore = (deps: Deps, buckets: readonly Bucket[]): Promise<unknown> =>
  Promise.all(buckets.map(({ name, rate }) => giveBack(deps, name, rate)))

const least = (taken: Taken[]): Taken => taken.reduce((a, b) => (b.remaining < a.remaining ? b : a))

const headersOf = ({ rate, remaining }: Taken): Record<string, string> => ({
  'x-ratelimit-limit': String(rate.burst),
  'x-ratelimit-remaining': String(remaining),
  'x-ratelimit-policy': `${round(rate.perSecond)};burst=${rate.burst}`,
})

const round = (n: number): number => Math.round(n * 1_000) / 1_000
