import { unicodePattern } from './unicode-pattern.ts'

/** Escapes whose meaning differs between languages, with the characters that they stand for in JavaScript. */
const WRITTEN_OUT: Readonly<Record<string, string>> = {
  '\\d': '0-9',
  '\\w': 'A-Za-z0-9_',
  '\\s': '\\t\\n\\v\\f\\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff',
  '\\/': '/',
}

/** Look-around, inline flags, named groups, and escapes that some languages don't have. */
const NOT_PORTABLE = /\(\?(?!:)|\\[bBDWSpPkcux0-9]/
const TOKEN = /\\[\s\S]|\[|\]|[^\\[\]]+/g

/**
 * Returns a pattern that means the same in the regular expressions of JavaScript, Python, Rust and RE2, or undefined if
 * it can't be written so.
 */
export const portablePattern = (pattern: string): string | undefined => {
  const source = unicodePattern(pattern)
  if (source === undefined || NOT_PORTABLE.test(source.replaceAll('\\\\', ''))) return undefined
  let isInClass = false
  let isRange = false
  let written = ''
  for (const [token] of source.matchAll(TOKEN)) {
    const characters = WRITTEN_OUT[token]
    if (characters === undefined) {
      isInClass = token === '[' ? true : token === ']' ? false : isInClass
      written += token
    } else {
      // `[a-\d]` and the like have no portable form.
      isRange ||= isInClass && token !== '\\/' && written.endsWith('-') && !written.endsWith('[-')
      written += isInClass || characters.length === 1 ? characters : `[${characters}]`
    }
  }
  return isRange ? undefined : written
}
