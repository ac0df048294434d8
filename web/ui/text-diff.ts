export interface Part {
  kind: 'same' | 'removed' | 'added'
  text: string
}

/** Most words per side that are compared. Longer texts count as replaced as a whole. */
const MOST = 1_500

/** Places of the same item in two lists. What only one of them has lacks the other place. */
export interface Pair {
  before?: number
  after?: number
}

/** Pairs what two lists have in common, in their order (longest common subsequence). */
export const pairUp = (old: readonly string[], now: readonly string[]): Pair[] => {
  const width = now.length + 1
  /** Lengths of the longest common subsequences of the rests that begin at each pair. */
  const common = new Uint16Array((old.length + 1) * width)
  const at = (i: number, j: number): number => common[i * width + j] ?? 0
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = now.length - 1; j >= 0; j--)
      common[i * width + j] = old[i] === now[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
  const pairs: Pair[] = []
  let [i, j] = [0, 0]
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) pairs.push({ before: i++, after: j++ })
    else if (j >= now.length || (i < old.length && at(i + 1, j) >= at(i, j + 1))) pairs.push({ before: i++ })
    else pairs.push({ after: j++ })
  }
  return pairs
}

/** Compares two texts word by word. Neighbours of one kind are one part. */
export const diffWords = (before: string, after: string): Part[] => {
  const [old, now] = [wordsOf(before), wordsOf(after)]
  const parts: Part[] = []
  const add = (kind: Part['kind'], text: string): void => {
    const last = parts.at(-1)
    if (last?.kind === kind) last.text += text
    else if (text !== '') parts.push({ kind, text })
  }
  if (old.length > MOST || now.length > MOST) {
    add('removed', before)
    add('added', after)
    return parts
  }
  for (const { before: i, after: j } of pairUp(old, now)) {
    if (i === undefined) add('added', now[j ?? 0] ?? '')
    else add(j === undefined ? 'removed' : 'same', old[i] ?? '')
  }
  return parts
}

/** Splits a text into words and what is between them. */
const wordsOf = (text: string): string[] => text.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? []
