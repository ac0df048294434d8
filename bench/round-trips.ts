/** When a call to the store went out and when its answer was there, in milliseconds of one clock. */
export interface Interval {
  start: number
  end: number
}

/**
 * Round trips one after the other: the most calls of which none overlaps another. Calls made at the same time count
 * once, and a short call beside a longer one does not hide what came after it.
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
