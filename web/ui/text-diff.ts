export interface Part {
  kind: 'same' | 'removed' | 'added'
  text: string
}

/** Most words per side that are compared. Longer texts count as replaced as a whole. */
const MOST = 1_500

/** Compares two texts word by word (longest common subsequence). Neighbours of one kind are one part. */
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
  const width = now.length + 1
  /** Lengths of the longest common subsequences of the rests that begin at each pair of words. */
  const common = new Uint16Array((old.length + 1) * width)
  const at = (i: number, j: number): number => common[i * width + j] ?? 0
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = now.length - 1; j >= 0; j--)
      common[i * width + j] = old[i] === now[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
  let [i, j] = [0, 0]
  while (i < old.length || j < now.length) {
    const [was = '', is = ''] = [old[i], now[j]]
    if (i < old.length && j < now.length && was === is) {
      add('same', was)
      i++
      j++
    } else if (j >= now.length || (i < old.length && at(i + 1, j) >= at(i, j + 1))) {
      add('removed', was)
      i++
    } else {
      add('added', is)
      j++
    }
  }
  return parts
}

/** Splits a text into words and what is between them. */
const wordsOf = (text: string): string[] => text.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? []
