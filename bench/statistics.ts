/** The middle value; of an even number the mean of the two in the middle. NaN for none. */
export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}

/** The smallest value that at least this share of the values does not exceed (nearest rank). NaN for none. */
export const percentile = (values: readonly number[], share: number): number => {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN
}

/** Half the distance between the quartiles: how far a typical value lies from the median. */
export const spread = (values: readonly number[]): number => (percentile(values, 0.75) - percentile(values, 0.25)) / 2
