/** Returns the median. NaN for no values. */
export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}

/** Returns the percentile for a share, by nearest rank. NaN for no values. */
export const percentile = (values: readonly number[], share: number): number => {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN
}

/** Returns half the distance between the quartiles, the typical distance of a value from the median. */
export const spread = (values: readonly number[]): number => (percentile(values, 0.75) - percentile(values, 0.25)) / 2
