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
  /** True when it matches only at the start of the text, and only up to its end. */
  anchored: boolean
  ended: boolean
  /** True when it matches anywhere, if only an empty text. */
  certain: boolean
  /** True when it can look ahead before its first character. */
  looking: boolean
  /** From one position in a text of n characters it can match in `factor` × n^`degree` ways. */
  degree: number
  factor: number
  /** Steps that don't multiply what follows, in the same form: of look-aheads, and of parts that are left in one way. */
  looks: Cost
  tries: Cost
}

type Cost = Pick<Part, 'degree' | 'factor'>

/** Reason for rejecting a pattern, worded for its author. */
export class PatternRefused extends Error {}

/** Highest number of lengths that counts as a factor rather than a degree. */
const FEW = 64

const isFixed = ({ min, max }: Part): boolean => min === max

/** Recounts the ways of a part that has one way to match per length, if that is fewer. If it isn't decided, it also has tries. */
const counted = (part: Part): Part => {
  const { min, max, decided, unique, degree, factor } = part
  const lengths = max - min + 1
  const isFew = lengths <= FEW
  if (decided && isFew) return { ...part, degree: 0, factor: degree === 0 ? Math.min(factor, lengths) : lengths }
  if (decided) return degree === 0 ? part : { ...part, degree: 1, factor: 1 }
  return unique && degree > 1 ? { ...part, degree: 1, factor: 1, tries: sumOf(part, part.tries) } : part
}

const NOTHING: Part = {
  ...{ min: 0, max: 0, all: 0n, first: 0n, last: 0n, more: 0n, degree: 0, factor: 1 },
  looks: { degree: 0, factor: 0 },
  tries: { degree: 0, factor: 0 },
  ...{ decided: true, unique: true, delimited: false, anchored: false, ended: false, certain: true, looking: false },
}

const BOUNDARY: Part = { ...NOTHING, certain: false }

/** Parts that match nothing, by how they are written. */
export const BOUNDARIES: Readonly<Record<string, Part>> = {
  '^': { ...BOUNDARY, anchored: true },
  $: { ...BOUNDARY, ended: true },
  '\\b': BOUNDARY,
  '\\B': BOUNDARY,
}

export const oneOf = (all: Characters): Part => ({ ...BOUNDARY, min: 1, max: 1, all, first: all, last: all })

const sumOf = (one: Cost, other: Cost): Cost => ({
  degree: Math.max(one.degree, other.degree),
  factor: one.factor + other.factor,
})

/** Costs of a second part after a first one that can match in several ways. */
const timesOf = (one: Cost, other: Cost): Cost =>
  other.factor === 0 ? other : { degree: one.degree + other.degree, factor: one.factor * other.factor }

/** Part that looks ahead: it matches nothing, and costs what it looks for. */
export const lookOf = (part: Part): Part => ({
  ...BOUNDARY,
  looking: true,
  looks: sumOf(part, sumOf(part.looks, part.tries)),
})

/**
 * Tells whether a text can be split between two parts in one place only: behind the last character of the first part. What the
 * second part tries behind one of those characters ends at the next of them.
 */
const isSplit = (one: Part, next: Part): boolean => (one.last & next.all) === 0n

/** Costs of a second part, which are of different parts of the text behind each end of the first part. */
const amongOf = (one: Cost, other: Cost): Cost => (other.degree === 0 ? timesOf(one, other) : sumOf(one, other))

/** Takes what a part costs as steps that don't multiply what follows. */
const counting = (part: Part): Part =>
  part.degree === 0 && part.factor === 1 ? part : { ...part, degree: 0, factor: 1, tries: sumOf(part, part.tries) }

/**
 * Tells whether what follows a part is reached in one way: it begins with a character that occurs nowhere in the
 * unambiguous part, so that everywhere else within the part it fails at its first character. What may be empty has to end the
 * text instead.
 */
const isReachedOnce = (one: Part, rest: Part): boolean =>
  one.unique && (rest.min > 0 || rest.ended) && !rest.looking && (one.all & rest.first) === 0n

const multiplied = (one: Part, next: Part): Part => {
  const parted = one.decided && (one.more & next.first) === 0n
  const joinedOf = one.unique && isSplit(one, next) ? amongOf : timesOf
  const { degree, factor } = joinedOf(one, next)
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
    anchored: one.anchored || (one.max === 0 && next.anchored),
    ended: one.ended || next.ended,
    certain: one.certain && next.certain,
    looking: one.looking || (one.min === 0 && next.looking),
    degree,
    looks: sumOf(one.looks, timesOf(one, next.looks)),
    tries: sumOf(one.tries, joinedOf(one, next.tries)),
    // Each way that fails at the seam costs a step too. A single way per position is already counted.
    factor: !parted && degree > 0 && factor > 1 ? 2 * factor : factor,
  })
}

/** @param isWhole whether nothing follows, so that the match is over where the rest is certain */
export const sequenceOf = (parts: readonly Part[], isWhole: boolean): Part => {
  const isDelimiter = (part: Part | undefined): boolean =>
    part?.min === 1 && part.max === 1 && parts.every((other) => other === part || (other.all & part.all) === 0n)
  const delimited = isDelimiter(parts[0]) || isDelimiter(parts.at(-1))
  /** From each part to the end. */
  const rests: Part[] = []
  for (const part of parts.toReversed()) rests.unshift(multiplied(part, rests[0] ?? NOTHING))
  const whole = parts.reduce((one, next, at) => {
    const rest = rests[at] ?? NOTHING
    // Where the rest is certain, nothing is tried again.
    if (isWhole && rest.certain)
      return { ...multiplied(counting(one), counting(next)), degree: one.degree, factor: one.factor }
    return multiplied(isReachedOnce(one, rest) ? counting(one) : one, next)
  }, NOTHING)
  return { ...whole, delimited }
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
    ended: parts.every(({ ended }) => ended),
    certain: parts.some(({ certain }) => certain),
    looking: parts.some(({ looking }) => looking),
    degree: Math.max(...parts.map(({ degree }) => degree)),
    factor: parts.reduce((sum, { factor }) => sum + factor, 0),
    looks: parts.map(({ looks }) => looks).reduce(sumOf),
    tries: parts.map(({ tries }) => tries).reduce(sumOf),
  })
}

/** @throws {PatternRefused} when an unbounded repeat can match one text in several ways, since backtracking is exponential then */
export const repeatOf = (body: Part, min: number, max: number): Part => {
  const always = {
    anchored: min > 0 && body.anchored,
    ended: min > 0 && body.ended,
    certain: min === 0 || body.certain,
  }
  if (max === 0) return { ...NOTHING, ...always }
  if (body.max === 0) return { ...body, ...always, ...emptyRounds(body, Math.max(1, min)) }
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
    ...always,
    ...rounds,
    looks: once ? body.looks : timesOf({ ...rounds, factor: rounds.factor + 1 }, body.looks),
    tries: once ? body.tries : triesOf(body, rounds, unique),
  })
}

/** Counts the ways and steps of a repeat that matches nothing. Only as many rounds are tried as have to be. */
const emptyRounds = ({ factor, looks, tries }: Part, rounds: number): Pick<Part, 'factor' | 'looks' | 'tries'> => {
  const ways = factor ** rounds
  const every = { degree: 0, factor: rounds * ways }
  return { factor: ways, looks: timesOf(every, looks), tries: timesOf(every, tries) }
}

/** Counts the tries of a repeat. Those of unique rounds are of different parts of the text. */
const triesOf = ({ tries }: Part, rounds: Cost, unique: boolean): Cost =>
  unique && tries.factor > 0
    ? { ...tries, degree: Math.max(1, tries.degree) }
    : timesOf({ ...rounds, factor: rounds.factor + 1 }, tries)

/** Counts the ways of a repeat. When rounds are unique, each position of the text ends at most one of them. */
const roundsOf = ({ degree, factor }: Part, max: number, unique: boolean): Cost =>
  unique && max > 4 ? { degree: degree + 1, factor } : { degree: degree * max, factor: (factor + 1) ** max }
