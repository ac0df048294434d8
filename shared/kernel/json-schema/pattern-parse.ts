import { CLASSES, type CodePoints, complement, EVERY, normalized } from './code-points.ts'

/** A regular expression as the ambiguity analysis needs it: captures, laziness and assertions make no difference. */
export type Pattern =
  | { kind: 'set'; set: CodePoints }
  | { kind: 'sequence' | 'choice'; items: Pattern[] }
  | { kind: 'repeat'; body: Pattern; min: number; max: number }
  | { kind: 'start' }

/** Why a pattern is outside what is accepted, in words for its author. */
export class PatternRefused extends Error {}

const MAX_NESTING = 12
const SINGLE: Readonly<Record<string, number>> = { n: 10, r: 13, t: 9, v: 11, f: 12, '0': 0 }

/**
 * Parses a pattern that `new RegExp(text, 'u')` has accepted, so its syntax is known to be right.
 *
 * @throws {PatternRefused} on look-around, back-references, inline flags and deep nesting.
 */
export const parsePattern = (text: string): Pattern => {
  const source = Array.from(text)
  let at = 0
  const peek = (offset = 0): string => source[at + offset] ?? ''
  const take = (): string => source[at++] ?? ''
  const takeUntil = (end: string): string => {
    let taken = ''
    while (at < source.length && peek() !== end) taken += take()
    at += 1
    return taken
  }
  const hex = (digits: number): number => {
    at += digits
    return Number.parseInt(source.slice(at - digits, at).join(''), 16)
  }

  const unicodeEscape = (): number => {
    if (peek() === '{') {
      at += 1
      return Number.parseInt(takeUntil('}'), 16)
    }
    const unit = hex(4)
    if (unit < 0xd800 || unit > 0xdbff || peek() !== '\\' || peek(1) !== 'u') return unit
    at += 2
    return (unit - 0xd800) * 0x400 + (hex(4) - 0xdc00) + 0x10000
  }

  /** After the backslash. */
  const escaped = (inClass: boolean): CodePoints => {
    const letter = take()
    const named = letter === '.' ? undefined : CLASSES[letter]
    if (named !== undefined) return named
    if (letter === 'p' || letter === 'P') {
      takeUntil('}')
      return EVERY
    }
    if (letter === 'k' || /[1-9]/.test(letter)) throw new PatternRefused('back-references are not accepted')
    if (letter === 'b' && inClass) return [[8, 8]]
    const point =
      letter === 'x'
        ? hex(2)
        : letter === 'u'
          ? unicodeEscape()
          : letter === 'c'
            ? (take().codePointAt(0) ?? 0) % 32
            : (SINGLE[letter] ?? letter.codePointAt(0) ?? 0)
    return [[point, point]]
  }

  const classMember = (): CodePoints => {
    const character = take()
    if (character === '\\') return escaped(true)
    const point = character.codePointAt(0) ?? 0
    return [[point, point]]
  }

  const characterClass = (): CodePoints => {
    const negated = peek() === '^'
    if (negated) at += 1
    const ranges: (readonly [number, number])[] = []
    let exact = true
    while (peek() !== ']') {
      const low = classMember()
      if (low === EVERY) exact = false
      if (peek() === '-' && peek(1) !== ']') {
        at += 1
        const high = classMember()
        ranges.push([low[0]?.[0] ?? 0, high[0]?.[0] ?? 0])
      } else ranges.push(...low)
    }
    at += 1
    // A \p{…} inside stands for "anything" here; its complement must too, or an overlap would be missed.
    if (!exact) return EVERY
    return negated ? complement(normalized(ranges)) : normalized(ranges)
  }

  const quantified = (body: Pattern): Pattern => {
    const sign = peek()
    let bounds: [number, number] | undefined
    if (sign === '*') bounds = [0, Number.POSITIVE_INFINITY]
    else if (sign === '+') bounds = [1, Number.POSITIVE_INFINITY]
    else if (sign === '?') bounds = [0, 1]
    if (bounds !== undefined) at += 1
    else if (sign === '{') {
      at += 1
      const [low = '0', high] = takeUntil('}').split(',')
      bounds = [Number(low), high === undefined ? Number(low) : high === '' ? Number.POSITIVE_INFINITY : Number(high)]
    }
    if (bounds === undefined) return body
    if (peek() === '?') at += 1
    return { kind: 'repeat', body, min: bounds[0], max: bounds[1] }
  }

  const group = (depth: number): Pattern => {
    if (depth >= MAX_NESTING) throw new PatternRefused(`groups may be nested at most ${MAX_NESTING} deep`)
    if (peek() === '?') {
      if (peek(1) === ':') at += 2
      else if (peek(1) === '<' && peek(2) !== '=' && peek(2) !== '!') takeUntil('>')
      else throw new PatternRefused('look-around and inline flags are not accepted')
    }
    const body = choice(depth + 1)
    at += 1
    return body
  }

  const atom = (depth: number): Pattern => {
    const character = take()
    if (character === '(') return group(depth)
    if (character === '[') return { kind: 'set', set: characterClass() }
    if (character === '.') return { kind: 'set', set: CLASSES['.'] ?? EVERY }
    if (character === '^') return { kind: 'start' }
    if (character === '$') return { kind: 'sequence', items: [] }
    if (character === '\\') {
      if (peek() === 'b' || peek() === 'B') {
        at += 1
        return { kind: 'sequence', items: [] }
      }
      return { kind: 'set', set: escaped(false) }
    }
    const point = character.codePointAt(0) ?? 0
    return { kind: 'set', set: [[point, point]] }
  }

  const sequence = (depth: number): Pattern => {
    const items: Pattern[] = []
    while (at < source.length && peek() !== '|' && peek() !== ')') items.push(quantified(atom(depth)))
    return { kind: 'sequence', items }
  }

  const choice = (depth: number): Pattern => {
    const items = [sequence(depth)]
    while (peek() === '|') {
      at += 1
      items.push(sequence(depth))
    }
    return items.length === 1 && items[0] !== undefined ? items[0] : { kind: 'choice', items }
  }

  return choice(0)
}

/** True when a match can only begin at the start of the text. */
export const isAnchored = (pattern: Pattern): boolean => {
  if (pattern.kind === 'start') return true
  if (pattern.kind === 'choice') return pattern.items.every(isAnchored)
  if (pattern.kind === 'sequence') return pattern.items[0] !== undefined && isAnchored(pattern.items[0])
  return pattern.kind === 'repeat' && pattern.min > 0 && isAnchored(pattern.body)
}
