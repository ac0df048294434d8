import type { Characters } from './characters.ts'

/** Conservative facts about a part of a pattern: each may be worse than the truth, never better. */
export interface Part {
  /** Range of the lengths of matched texts. */
  min: number
  max: number
  /** Characters it can match, can begin with, can end with, and characters that can extend a complete match. */
  all: Characters
  first: Characters
  last: Characters
  more: Characters
  /** True when the next character always decides how the match continues. */
  decided: boolean
  /** True when a text can be matched in at most one way. */
  unique: boolean
  /** True when it begins or ends with a character that occurs nowhere else in it. */
  delimited: boolean
  /** True when it matches only at the start of the text. */
  anchored: boolean
  /** From one position in a text of n characters it can match in `factor` × n^`degree` ways. */
  degree: number
  factor: number
  /** Steps of parts that don't multiply what follows, in the same form: look-aheads, and parts that are left in one way. */
  looks: Pick<Part, 'degree' | 'factor'>
}

/** Reason for rejecting a pattern, worded for its author. */
export class PatternRefused extends Error {}

/** Highest number of lengths that counts as a factor rather than a degree. */
const FEW = 64

const isFixed = ({ min, max }: Part): boolean => min === max

/** Recounts the ways of a decided part, which has one way to match per length, if that is fewer. */
const counted = (part: Part): Part => {
  if (!part.decided) return part
  const lengths = part.max - part.min + 1
  if (lengths > FEW) return part.degree === 0 ? part : { ...part, degree: 1, factor: 1 }
  return { ...part, degree: 0, factor: part.degree === 0 ? Math.min(part.factor, lengths) : lengths }
}

export const NOTHING: Part = {
  ...{ min: 0, max: 0, all: 0n, first: 0n, last: 0n, more: 0n, degree: 0, factor: 1 },
  looks: { degree: 0, factor: 0 },
  ...{ decided: true, unique: true, delimited: false, anchored: false },
}

export const START: Part = { ...NOTHING, anchored: true }

export const oneOf = (all: Characters): Part => ({ ...NOTHING, min: 1, max: 1, all, first: all, last: all })

const sumOf = (one: Part['looks'], other: Part['looks']): Part['looks'] => ({
  degree: Math.max(one.degree, other.degree),
  factor: one.factor + other.factor,
})

/** Part that looks ahead: it matches nothing, and costs what it looks for. */
export const lookOf = ({ degree, factor, looks }: Part): Part => ({
  ...NOTHING,
  looks: sumOf({ degree, factor }, looks),
})

/** Tells whether a text can be split between two parts in one place only: behind the last character of the first part. */
const isSplit = (one: Part, next: Part): boolean => (one.last & next.all) === 0n

/**
 * Joins two parts. A character that occurs nowhere in an unambiguous first part is reached in one way, so what the first
 * part costs isn't multiplied by what follows.
 */
const joined = (one: Part, next: Part): Part => {
  const both = multiplied(one, next)
  const isReachedOnce = one.unique && next.min === 1 && next.max === 1 && (one.all & next.all) === 0n
  return isReachedOnce ? { ...both, degree: 0, factor: 1, looks: sumOf(one, sumOf(one.looks, next.looks)) } : both
}

const multiplied = (one: Part, next: Part): Part => {
  const parted = one.decided && (one.more & next.first) === 0n
  const degree = one.degree + next.degree
  const factor = one.factor * next.factor
  return counted({
    min: one.min + next.min,
    max: one.max + next.max,
    all: one.all | next.all,
    first: one.first | (one.min === 0 ? next.first : 0n),
    last: next.last | (next.min === 0 ? one.last : 0n),
    more: next.more | (next.min === 0 ? one.more : 0n),
    decided: parted && next.decided,
    unique: one.unique && next.unique && (parted || isFixed(one) || isFixed(next) || isSplit(one, next)),
    delimited: false,
    anchored: one.anchored,
    degree,
    looks:
      next.looks.factor === 0
        ? one.looks
        : sumOf(one.looks, { degree: one.degree + next.looks.degree, factor: one.factor * next.looks.factor }),
    // Each way that fails at the seam costs a step too. A single way per position is already counted.
    factor: !parted && degree > 0 && factor > 1 ? 2 * factor : factor,
  })
}

export const sequenceOf = (parts: readonly Part[]): Part => {
  const isDelimiter = (part: Part | undefined): boolean =>
    part?.min === 1 && part.max === 1 && parts.every((other) => other === part || (other.all & part.all) === 0n)
  const [first = NOTHING, ...rest] = parts
  const delimited = isDelimiter(first) || isDelimiter(parts.at(-1))
  return { ...rest.reduce(joined, first), delimited }
}

export const choiceOf = (parts: readonly Part[]): Part => {
  const [only = NOTHING, ...others] = parts
  if (others.length === 0) return only
  const union = (of: 'all' | 'first' | 'last' | 'more'): Characters =>
    parts.reduce((found, part) => found | part[of], 0n)
  const apart =
    parts.filter(({ min }) => min === 0).length <= 1 &&
    parts.every((one, at) => parts.slice(at + 1).every((other) => (one.first & other.first) === 0n))
  const min = Math.min(...parts.map((part) => part.min))
  return counted({
    min,
    max: Math.max(...parts.map((part) => part.max)),
    all: union('all'),
    first: union('first'),
    last: union('last'),
    more: union('more') | (min === 0 ? union('first') : 0n),
    decided: apart && parts.every(({ decided }) => decided),
    unique: apart && parts.every(({ unique }) => unique),
    delimited: false,
    anchored: parts.every(({ anchored }) => anchored),
    degree: Math.max(...parts.map(({ degree }) => degree)),
    factor: parts.reduce((sum, { factor }) => sum + factor, 0),
    looks: parts.map(({ looks }) => looks).reduce(sumOf),
  })
}

/** @throws {PatternRefused} when an unbounded repeat can match one text in several ways, since backtracking is exponential then */
export const repeatOf = (body: Part, min: number, max: number): Part => {
  if (max === 0 || body.max === 0) return { ...NOTHING, anchored: min > 0 && body.anchored }
  const once = max === 1
  // Skipping is one more way, which only matters when the number of ways is constant.
  const skipped = min === 0 && body.degree === 0 ? 1 : 0
  const parted = once || (body.more & body.first) === 0n
  const filled = body.min > 0
  const decided = body.decided && filled && parted
  const unique = body.unique && filled && (once || isFixed(body) || body.delimited || decided)
  if (!unique && max === Number.POSITIVE_INFINITY)
    throw new PatternRefused(
      'its repeated part can match the same text in several ways. Begin or end that part with a character that occurs nowhere else in it, and begin its alternatives with different characters',
    )
  const rounds = once ? { degree: body.degree, factor: body.factor + skipped } : roundsOf(body, max, unique)
  return counted({
    ...body,
    min: body.min * min,
    max: body.max * max,
    more: body.more | (min < max ? body.first : 0n),
    decided,
    unique,
    delimited: false,
    anchored: min > 0 && body.anchored,
    ...rounds,
    looks: once
      ? body.looks
      : { degree: rounds.degree + body.looks.degree, factor: (rounds.factor + 1) * body.looks.factor },
  })
}

/** Counts the ways of a repeat. When rounds are unique, each position of the text ends at most one of them. */
const roundsOf = ({ degree, factor }: Part, max: number, unique: boolean): Pick<Part, 'degree' | 'factor'> =>
  unique && max > 4 ? { degree: degree + 1, factor } : { degree: degree * max, factor: (factor + 1) ** max }
