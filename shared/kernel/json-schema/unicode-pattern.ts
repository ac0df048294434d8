const TOKEN = /\\[\s\S]|\{\d+(?:,\d*)?\}|[\s\S]/g
const PUNCTUATION = /^\\[^A-Za-z0-9]$/
const SYNTAX = /^\\[\^$\\.*+?()[\]{}|/]$/
const SET = /^\\[dswDSW]$/

const compiles = (pattern: string): boolean => {
  try {
    return new RegExp(pattern, 'u') !== undefined
  } catch {
    return false
  }
}

/**
 * Writes a pattern as the flag `u` wants it: without `\` before punctuation that means itself, and with `\` before `]`, `{`, `}`
 * and a `-` next to `\w` that mean themselves. Other languages take both.
 */
const strictly = (pattern: string): string => {
  const tokens = pattern.match(TOKEN) ?? []
  let isInClass = false
  return tokens
    .map((token, at) => {
      const before = tokens[at - 1] ?? ''
      if (isInClass) {
        isInClass = token !== ']'
        if (token === '-') return SET.test(before) || SET.test(tokens[at + 1] ?? '') ? '\\-' : token
        return PUNCTUATION.test(token) && !SYNTAX.test(token) && token !== '\\-' ? token.slice(1) : token
      }
      isInClass = token === '['
      if (token === ']' || token === '{' || token === '}') return `\\${token}`
      return PUNCTUATION.test(token) && !SYNTAX.test(token) ? token.slice(1) : token
    })
    .join('')
}

/**
 * Returns the regular expression of a JSON Schema, which is one of ECMA-262 with the flag `u`. Rewrites what is only one without
 * the flag, such as `[\w-.]`, because schema libraries write it too. Undefined if it is neither.
 */
export const unicodePattern = (pattern: string): string | undefined => [pattern, strictly(pattern)].find(compiles)
