/** Sorted, disjoint, inclusive ranges of code points: what one position of a regular expression matches. */
export type CodePoints = readonly (readonly [from: number, to: number])[]

const LAST = 0x10ffff

export const EVERY: CodePoints = [[0, LAST]]

/** Sorts and merges ranges that touch. */
export const normalized = (ranges: readonly (readonly [number, number])[]): CodePoints => {
  const merged: [number, number][] = []
  for (const [from, to] of [...ranges].sort((one, other) => one[0] - other[0])) {
    const last = merged.at(-1)
    if (last !== undefined && from <= last[1] + 1) last[1] = Math.max(last[1], to)
    else merged.push([from, to])
  }
  return merged
}

export const complement = (set: CodePoints): CodePoints => {
  const gaps: [number, number][] = []
  let next = 0
  for (const [from, to] of set) {
    if (from > next) gaps.push([next, from - 1])
    next = to + 1
  }
  if (next <= LAST) gaps.push([next, LAST])
  return gaps
}

/** True when some code point is in both sets. */
export const overlap = (one: CodePoints, other: CodePoints): boolean =>
  one.some(([from, to]) => other.some(([start, end]) => from <= end && start <= to))

const DIGIT: CodePoints = [[48, 57]]
const WORD: CodePoints = normalized([
  [48, 57],
  [65, 90],
  [95, 95],
  [97, 122],
])
const SPACE: CodePoints = normalized([
  [9, 13],
  [32, 32],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
])

/** The class escapes of ECMA-262 and the dot; `\p{…}` is not among them because its exact set is large. */
export const CLASSES: Readonly<Record<string, CodePoints>> = {
  d: DIGIT,
  D: complement(DIGIT),
  w: WORD,
  W: complement(WORD),
  s: SPACE,
  S: complement(SPACE),
  '.': complement(
    normalized([
      [10, 10],
      [13, 13],
      [0x2028, 0x2029],
    ]),
  ),
}
