/** Longest name that is compared. Longer names are generated, so comparing them would only cost time. */
const MAX_LENGTH = 40
const MAX_EDITS = 2

/** Returns the Levenshtein distance: the inserts, deletes and replacements between two texts. */
const distance = (one: string, other: string): number => {
  let previous = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (let row = 1; row <= one.length; row += 1) {
    const current = [row]
    for (let column = 1; column <= other.length; column += 1)
      current[column] = Math.min(
        (current[column - 1] ?? 0) + 1,
        (previous[column] ?? 0) + 1,
        (previous[column - 1] ?? 0) + (one[row - 1] === other[column - 1] ? 0 : 1),
      )
    previous = current
  }
  return previous[other.length] ?? 0
}

/** Finds the candidate that a mistyped name most likely means. It may differ by two edits and a third of its length. */
export const nearest = (name: string, candidates: readonly string[]): string | undefined => {
  if (name.length > MAX_LENGTH) return undefined
  const typed = name.toLowerCase()
  let best: { candidate: string; edits: number } | undefined
  for (const candidate of candidates) {
    // The difference in length is a lower bound of the distance.
    if (Math.abs(candidate.length - name.length) > MAX_EDITS) continue
    const edits = distance(typed, candidate.toLowerCase())
    if (
      edits <= Math.min(MAX_EDITS, Math.ceil(candidate.length / 3)) &&
      edits < (best?.edits ?? Number.POSITIVE_INFINITY)
    )
      best = { candidate, edits }
  }
  return best?.candidate
}
