import { EVERY } from './code-points.ts'
import { componentsOf } from './components.ts'
import { type Automaton, automatonOf } from './pattern-automaton.ts'
import { isAnchored, type Pattern, PatternRefused, parsePattern } from './pattern-parse.ts'

/** The longest pattern that is looked at, in UTF-16 units. */
const MAX_PATTERN_LENGTH = 400

/** Pairs of positions that may be looked at for one pattern: bounds the analysis to a few milliseconds. */
const MAX_WORK = 400_000

/** Steps of the matcher that one match may cost: some 20 ms. */
const STEPS = 10_000_000

/** A pattern that could not be matched even against this many characters within {@link STEPS} is of no use. */
const SHORTEST_LIMIT = 200
const LONGEST_LIMIT = 65_536

/**
 * `longest` is the length of text, in UTF-16 units, up to which a match stays within a few milliseconds; longer texts
 * must not be matched. Patterns that can backtrack exponentially, or nearly so, are refused with the reason.
 */
export type PatternVerdict = { longest: number } | { refused: string }

/**
 * Two different walks over one text from a position back to itself make exponential backtracking: in the graph of
 * pairs that is a component with both a diagonal and an off-diagonal pair (A. Weber and H. Seidl, "On the degree of
 * ambiguity of finite automata", 1991; N. Weideman et al., "Analyzing matching time behavior of backtracking
 * regular expression matchers by using ambiguity of NFA", 2016).
 */
const pairsOf = ({ sets, follow, meets }: Automaton) => {
  const width = sets.length
  let work = 0
  return (pair: number): number[] => {
    const reached: number[] = []
    for (const one of follow[Math.floor(pair / width)] ?? [])
      for (const other of follow[pair % width] ?? []) {
        work += 1
        if (work > MAX_WORK) throw new PatternRefused('it is too complex to be checked')
        if (meets(one, other)) reached.push(one * width + other)
      }
    return reached
  }
}

const refuseExponential = (automaton: Automaton): void => {
  const width = automaton.sets.length
  const component = componentsOf(width * width, lazily(pairsOf(automaton), width))
  const diagonal = new Set(automaton.sets.map((_, position) => component[position * width + position]))
  for (let pair = 0; pair < width * width; pair += 1)
    if (Math.floor(pair / width) !== pair % width && diagonal.has(component[pair]))
      throw new PatternRefused('a repeat can match the same text in exponentially many ways')
}

/** Pairs that no diagonal pair reaches do not matter, and most are such: leave their edges out. */
const lazily = (next: (pair: number) => number[], width: number): ((pair: number) => number[]) => {
  const reachable = new Map<number, number[]>()
  const waiting = Array.from({ length: width }, (_, position) => position * width + position)
  for (let pair = waiting.pop(); pair !== undefined; pair = waiting.pop()) {
    if (reachable.has(pair)) continue
    const targets = next(pair)
    reachable.set(pair, targets)
    waiting.push(...targets)
  }
  return (pair) => reachable.get(pair) ?? []
}

/**
 * What a failing match can cost, as `factor` × n^`degree`. The degree counts between how many successive loops a text
 * can be divided; the factor multiplies the choices that each position leaves open for one and the same character.
 */
const costOf = (automaton: Automaton): { degree: number; factor: number } => {
  const { sets, follow, first, meets } = automaton
  const width = sets.length
  const component = componentsOf(width, (position) => follow[position] ?? [])
  const loops = new Set<number>()
  for (const [from, targets] of follow.entries())
    for (const to of targets) if (component[from] === component[to]) loops.add(component[from] ?? -1)

  const next = pairsOf(automaton)
  const feeds = (loop: number): Set<number> => {
    const seen = new Set(
      sets.flatMap((_, position) => (component[position] === loop ? [position * width + position] : [])),
    )
    const fed = new Set<number>()
    for (const pair of seen) {
      const other = component[pair % width] ?? -1
      if (other !== loop && loops.has(other)) fed.add(other)
      for (const target of next(pair)) if (component[Math.floor(target / width)] === loop) seen.add(target)
    }
    return fed
  }

  const choices = (targets: readonly number[]): number =>
    Math.max(1, ...targets.map((one) => targets.filter((other) => meets(one, other)).length))

  // An edge never leads to a higher component, so lower numbers are complete before they are needed.
  const count = Math.max(-1, ...component) + 1
  const degree = new Array<number>(count).fill(0)
  const factor = new Array<number>(count).fill(1)
  for (let current = 0; current < count; current += 1) {
    let here = 1
    let after = 1
    for (const [from, targets] of follow.entries()) {
      if (component[from] !== current) continue
      here = Math.max(here, choices(targets))
      for (const to of targets) {
        const next = component[to] ?? 0
        degree[current] = Math.max(degree[current] ?? 0, degree[next] ?? 0)
        if (next !== current) after = Math.max(after, factor[next] ?? 1)
      }
    }
    factor[current] = here * after
    if (loops.has(current))
      for (const fed of feeds(current)) degree[current] = Math.max(degree[current] ?? 0, (degree[fed] ?? 0) + 1)
  }
  return { degree: Math.max(0, ...degree) + 1, factor: choices(first) * Math.max(1, ...factor) }
}

/** Dividing n characters between k loops can be done in about n^k / k! ways. */
const longestText = (degree: number, factor: number): number => {
  let ways = STEPS / factor
  for (let k = 2; k <= degree; k += 1) ways *= k
  return Math.min(LONGEST_LIMIT, Math.floor(ways ** (1 / degree)))
}

/**
 * Judges a regular expression of a JSON Schema's `pattern` before anything is matched with it. Sound by
 * over-estimation: what is accepted cannot backtrack worse than its degree says; a few harmless patterns are refused.
 * Never throws; takes at most some milliseconds whatever the text.
 */
export const judgePattern = (text: string): PatternVerdict => {
  if (text.length > MAX_PATTERN_LENGTH) return { refused: `it is longer than ${MAX_PATTERN_LENGTH} characters` }
  try {
    new RegExp(text, 'u')
  } catch {
    return { refused: 'it is not a regular expression of ECMA-262 with the u flag' }
  }
  try {
    const parsed = parsePattern(text)
    // Unanchored, the engine tries every start: the same as a leading loop over any character.
    const anywhere: Pattern = {
      kind: 'repeat',
      body: { kind: 'set', set: EVERY },
      min: 0,
      max: Number.POSITIVE_INFINITY,
    }
    const automaton = automatonOf(isAnchored(parsed) ? parsed : { kind: 'sequence', items: [anywhere, parsed] })
    refuseExponential(automaton)
    const { degree, factor } = costOf(automaton)
    const longest = degree > 3 ? 0 : longestText(degree, factor)
    if (longest < SHORTEST_LIMIT) return { refused: 'it can match the same text in too many ways' }
    return { longest }
  } catch (error) {
    if (error instanceof PatternRefused) return { refused: error.message }
    throw error
  }
}
