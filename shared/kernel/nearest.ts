/** Longer names are typed by machines; comparing them would only cost time. */
const MAX_LENGTH = 40
const MAX_EDITS = 2

/** Edits (insert, delete, replace) that lead from one text to another: Levenshtein's distance. */
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

/** The candidate that a mistyped name most likely means, if one is at most two edits and a third of it away. */
export const nearest = (name: string, candidates: readonly string[]): string | undefined => {
  if (name.length > MAX_LENGTH) return undefined
  const typed = name.toLowerCase()
  let best: { candidate: string; edits: number } | undefined
  for (const candidate of candidates) {
    // So many edits it takes at least.
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
