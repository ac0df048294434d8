/** Set of characters of an alphabet, one bit per character. */
export type Characters = bigint

/** Starts of the ranges of `.`, `\s`, `\w` and `\d` beyond ASCII, and the characters that follow their ends. */
const BEYOND_ASCII = [
  0xa0, 0xa1, 0x1680, 0x1681, 0x2000, 0x200b, 0x2028, 0x2029, 0x202a, 0x202f, 0x2030, 0x205f, 0x2060, 0x3000, 0x3001,
  0xfeff, 0xff00,
]
const POINTS = /\\u\{([\da-f]+)\}|\\u(d[89ab][\da-f]{2})\\u(d[c-f][\da-f]{2})|\\u([\da-f]{4})|\\x([\da-f]{2})|[\s\S]/giu

/** Returns the code point of a character in a pattern, whether literal or escaped. */
const pointOf = ([text, braced, high, low, unit, byte]: RegExpMatchArray): number => {
  const hex = braced ?? unit ?? byte
  if (hex !== undefined) return Number.parseInt(hex, 16)
  const character =
    high === undefined ? text : String.fromCharCode(Number.parseInt(high, 16), Number.parseInt(low ?? '', 16))
  return character.codePointAt(0) ?? 0
}

/**
 * Returns a function that finds the characters an atom of a pattern matches, such as `a`, `\d` or `[^a-z]`. The alphabet
 * has one character of each range that the pattern can distinguish. Two atoms share a character exactly when they share
 * one of the alphabet.
 *
 * @param pattern a regular expression of ECMA-262 with the u flag
 */
export const charactersIn = (pattern: string): ((atom: string) => Characters) => {
  const ascii = Array.from({ length: 129 }, (_, point) => point)
  const mentioned = Array.from(pattern.matchAll(POINTS), pointOf).flatMap((point) => [point, point + 1])
  const points = new Set([...ascii, ...BEYOND_ASCII, ...mentioned.filter((point) => point <= 0x10ffff)])
  const alphabet = Array.from(points, (point) => String.fromCodePoint(point))
  const known = new Map<string, Characters>()
  const find = (atom: string): Characters => {
    // A Unicode property has too many ranges to list, so it counts as matching every character.
    const matcher = /\\p\{/i.test(atom) ? /[\s\S]/u : new RegExp(`^${atom}$`, 'u')
    return alphabet.reduce((found, character, at) => (matcher.test(character) ? found | (1n << BigInt(at)) : found), 0n)
  }
  return (atom) => {
    const characters = known.get(atom) ?? find(atom)
    known.set(atom, characters)
    return characters
  }
}
