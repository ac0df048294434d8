import { charactersIn } from './characters.ts'
import { BOUNDARIES, choiceOf, lookOf, oneOf, type Part, PatternRefused, repeatOf, sequenceOf } from './pattern-cost.ts'
import { unicodePattern } from './unicode-pattern.ts'

/** Longest accepted pattern, in UTF-16 units. */
export const MAX_PATTERN_LENGTH = 1_000
const MAX_NESTING = 12

/** Matcher steps that one match may cost, about 20 ms. */
const STEPS = 4_000_000

/** More repeats in a row always cost more than {@link STEPS}. */
const MOST_REPEATS = 20

/** A pattern is rejected when it can't match even this many characters within {@link STEPS}. */
const SHORTEST_LIMIT = 100
const LONGEST_LIMIT = 65_536

/**
 * Verdict on a pattern. `matcher` is its regular expression. `longest` is the length in UTF-16 units up to which a match takes a few milliseconds. Longer
 * texts must not be matched. `steps` bounds the matcher's steps for a text of some length. `refused` is the reason for
 * rejecting the pattern.
 */
export type PatternVerdict =
  | { matcher: RegExp; longest: number; steps: (length: number) => number }
  | { refused: string }

/** Matches an escape, a class, the head of a group, a quantifier or a character. */
const TOKEN =
  /\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|\\(?:[pPu]\{[^}]*\}|u.{4}|x..|c.|.)|\[(?:\\.|[^\]\\])*\]|\((?:\?(?:[:=!]|<(?![=!])[^>]*>)?)?|\{[\d,]*\}\??|[*+?]\??|[\s\S]/gu
const QUANTIFIER = /^(?:[*+?]|\{(\d+)(,?)(\d*)\})\??$/

const boundsOf = (token: string): [min: number, max: number] | undefined => {
  const [quantifier, low, comma, high] = QUANTIFIER.exec(token) ?? []
  if (quantifier === undefined) return undefined
  if (low !== undefined) return [Number(low), comma ? Number(high || Number.POSITIVE_INFINITY) : Number(low)]
  return [token[0] === '+' ? 1 : 0, token[0] === '?' ? 1 : Number.POSITIVE_INFINITY]
}

/**
 * Parses a regular expression with the flag `u`.
 *
 * @throws {PatternRefused} on look-behind, back-references, inline flags, deep nesting and repeats that {@link repeatOf} rejects
 */
const partOf = (text: string): Part => {
  const tokens = text.match(TOKEN) ?? []
  const characters = charactersIn(text)
  let at = 0

  const atom = (depth: number): Part => {
    const token = tokens[at++] ?? ''
    if (token === '(?') throw new PatternRefused('look-behind and inline flags are not accepted')
    if (/^\\[1-9k]/.test(token)) throw new PatternRefused('back-references are not accepted')
    const boundary = BOUNDARIES[token]
    if (boundary) return boundary
    if (token[0] !== '(') return oneOf(characters(token))
    if (depth >= MAX_NESTING) throw new PatternRefused(`groups are nested deeper than ${MAX_NESTING} levels`)
    const inside = choice(depth + 1)
    at += 1
    return token === '(?=' || token === '(?!' ? lookOf(inside) : inside
  }

  const choice = (depth: number): Part => {
    const alternatives: Part[][] = [[]]
    for (let token = tokens[at]; token !== undefined && token !== ')'; token = tokens[at]) {
      if (token === '|') {
        alternatives.push([])
        at += 1
        continue
      }
      const part = atom(depth)
      const bounds = boundsOf(tokens[at] ?? '')
      if (bounds !== undefined) at += 1
      alternatives.at(-1)?.push(bounds === undefined ? part : repeatOf(part, ...bounds))
    }
    return choiceOf(alternatives.map((parts) => sequenceOf(parts, depth === 0)))
  }

  return choice(0)
}

/** Solves for n: dividing n characters among k repeats gives about n^k / k! ways. Unanchored patterns try every start. */
const costOf = (part: Part): { longest: number; steps: (length: number) => number } => {
  const costs = [part, part.looks, part.tries].map(({ degree, factor }) => {
    const repeats = Math.max(1, degree + (part.anchored ? 0 : 1))
    return { repeats, factor: repeats > MOST_REPEATS ? Number.POSITIVE_INFINITY : factor / factorial(repeats) }
  })
  const longest = Math.min(LONGEST_LIMIT, ...costs.map(({ repeats, factor }) => (STEPS / factor) ** (1 / repeats)))
  return {
    longest: Math.floor(longest),
    steps: (length) => costs.reduce((sum, { repeats, factor }) => sum + factor * length ** repeats, 0),
  }
}

const factorial = (n: number): number => (n < 2 ? 1 : n * factorial(n - 1))

/**
 * Analyzes the regular expression of a JSON Schema's `pattern` before anything is matched with it. Accepts only patterns
 * with a known worst case: unbounded repeats whose rounds are distinguishable, and few other choices. Never throws.
 */
export const analyzePattern = (text: string): PatternVerdict => {
  if (text.length > MAX_PATTERN_LENGTH) return { refused: `it is longer than ${MAX_PATTERN_LENGTH} characters` }
  const pattern = unicodePattern(text)
  if (pattern === undefined) return { refused: 'it is not an ECMA-262 regular expression with the u flag' }
  try {
    const cost = costOf(partOf(pattern))
    return cost.longest >= SHORTEST_LIMIT
      ? { matcher: new RegExp(pattern, 'u'), ...cost }
      : { refused: 'it can match the same text in too many ways' }
  } catch (error) {
    if (error instanceof PatternRefused) return { refused: error.message }
    throw error
  }
}
