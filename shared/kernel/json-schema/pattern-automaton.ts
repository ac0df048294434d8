import { type CodePoints, overlap } from './code-points.ts'
import { type Pattern, PatternRefused } from './pattern-parse.ts'

/** A Glushkov automaton: its states are the pattern's character positions, so it has no empty moves. */
export interface Automaton {
  sets: CodePoints[]
  /** The positions that a match can begin with. */
  first: number[]
  /** For each position, the positions that can come next. */
  follow: number[][]
  /** For each pair of positions, whether one character can be matched by both. */
  meets: (one: number, other: number) => boolean
}

interface Part {
  nullable: boolean
  first: number[]
  last: number[]
}

const MAX_POSITIONS = 128
/** Repeats up to this many times are written out, so that `(\d{1,3}\.){3}` is judged as what it is. */
const WRITTEN_OUT = 4

/**
 * Builds the automaton (V. M. Glushkov, "The abstract theory of automata", 1961). A larger counted repeat stands as an
 * unbounded one: that can only make the pattern look worse than it is.
 *
 * @throws {PatternRefused} when a repeat can go round in two ways over the same text, which alone makes backtracking
 * exponential, and on patterns that are too large.
 */
export const automatonOf = (pattern: Pattern): Automaton => {
  const sets: CodePoints[] = []
  const follow: Set<number>[] = []

  const connect = (part: Part, next: Part, loop: boolean): void => {
    for (const from of part.last)
      for (const to of next.first) {
        const targets = follow[from]
        if (loop && targets?.has(to))
          throw new PatternRefused('a repeat inside a repeat can match the same text in exponentially many ways')
        targets?.add(to)
      }
  }

  const join = (parts: Iterable<Part>): Part => {
    let whole: Part = { nullable: true, first: [], last: [] }
    for (const part of parts) {
      connect(whole, part, false)
      whole = {
        nullable: whole.nullable && part.nullable,
        first: whole.nullable ? [...whole.first, ...part.first] : whole.first,
        last: part.nullable ? [...whole.last, ...part.last] : part.last,
      }
    }
    return whole
  }

  const repeat = (body: Pattern, min: number, max: number): Part => {
    if (max === 0) return { nullable: true, first: [], last: [] }
    if (max <= WRITTEN_OUT) {
      const copies = Array.from({ length: max }, (_, index) => {
        const part = build(body)
        return index < min ? part : { ...part, nullable: true }
      })
      return join(copies)
    }
    const part = build(body)
    if (part.nullable && part.first.length > 0)
      throw new PatternRefused('a repeat whose inside can be empty can match the same text in many ways')
    connect(part, part, true)
    return { ...part, nullable: part.nullable || min === 0 }
  }

  const build = (node: Pattern): Part => {
    switch (node.kind) {
      case 'start':
        return { nullable: true, first: [], last: [] }
      case 'set': {
        if (sets.length >= MAX_POSITIONS)
          throw new PatternRefused(`it has more than ${MAX_POSITIONS} character positions`)
        const position = sets.push(node.set) - 1
        follow.push(new Set())
        return { nullable: false, first: [position], last: [position] }
      }
      case 'sequence':
        return join(node.items.map(build))
      case 'choice': {
        const parts = node.items.map(build)
        return {
          nullable: parts.some((part) => part.nullable),
          first: parts.flatMap((part) => part.first),
          last: parts.flatMap((part) => part.last),
        }
      }
      case 'repeat':
        return repeat(node.body, node.min, node.max)
    }
  }

  const { first } = build(pattern)
  const width = sets.length
  const known = new Int8Array(width * width)
  const meets = (one: number, other: number): boolean => {
    const index = one * width + other
    if (known[index] === 0) known[index] = overlap(sets[one] ?? [], sets[other] ?? []) ? 1 : -1
    return known[index] === 1
  }
  return { sets, first, follow: follow.map((targets) => [...targets]), meets }
}
