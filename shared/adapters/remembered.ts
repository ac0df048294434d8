import type { Clock } from '../kernel/clock.ts'

/**
 * A value from elsewhere, kept in memory for `life` ms. While it is being fetched everybody waits for the same fetch. A
 * failed refresh goes on with the value that is known; a failed first fetch is thrown, and the next call tries again. Who
 * needs a newer value gives its greatest age.
 */
export const remembered = <T>(clock: Clock, life: number, fetch: () => Promise<T>): ((age?: number) => Promise<T>) => {
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
