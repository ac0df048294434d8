import type { Clock } from '../kernel/clock.ts'

/**
 * Caches a fetched value in memory for `life` ms. Concurrent callers share one fetch. If a refresh fails, the cached
 * value stays in use. If the first fetch fails, the error is thrown and the next call tries again. Callers that need a
 * newer value pass its maximum age.
 */
export const cachedFetch = <T>(clock: Clock, life: number, fetch: () => Promise<T>): ((age?: number) => Promise<T>) => {
  let known: { value: Promise<T>; at: number } | undefined
  return (age = life) => {
    if (known && clock.now() - known.at < age) return known.value
    const before = known
    const value = fetch().catch((error: unknown) => {
      if (before) return before.value
      known = undefined
      throw error
    })
    known = { value, at: clock.now() }
    return value
  }
}
