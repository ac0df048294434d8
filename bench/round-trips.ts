/** Times at which a call to the store was sent and answered, in milliseconds of one clock. */
export interface Interval {
  start: number
  end: number
}

/**
 * Counts sequential round trips: the largest number of calls without overlap. Parallel calls count once, and a short call next to a
 * longer one doesn't hide later calls.
 */
export const sequentialRoundTrips = (calls: readonly Interval[]): number => {
  let count = 0
  let busyUntil = Number.NEGATIVE_INFINITY
  for (const { start, end } of calls.toSorted((a, b) => a.end - b.end)) {
    if (start < busyUntil) continue
    count++
    busyUntil = end
  }
  return count
}
