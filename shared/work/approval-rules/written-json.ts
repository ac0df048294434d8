/** A JSON value as it was written: numbers keep their digits, and an object keeps a name that it has twice. */
export type Written =
  | { kind: 'object'; entries: { name: string; value: Written }[] }
  | { kind: 'list'; items: Written[] }
  | { kind: 'text'; text: string }
  /** A number, `true`, `false` or `null`. */
  | { kind: 'plain'; text: string }

/** Deepest value that is read. Parsers have limits of their own, from 64 levels on. */
const DEEPEST = 32

const TOKENS = /"(?:[^"\\]|\\.)*"|[[\]{}]|[^\s,:[\]{}"]+/g

/** Parses JSON strictly. Returns undefined for any other text, and for values that are nested too deeply. */
export const parseWritten = (text: string): Written | undefined => {
  try {
    // The tokens of valid JSON need no further check.
    JSON.parse(text)
  } catch {
    return undefined
  }
  const tokens = text.match(TOKENS) ?? []
  let at = 0
  const read = (depth: number): Written | undefined => {
    const token = tokens[at++] ?? ''
    if (depth > DEEPEST) return undefined
    if (token === '[') {
      const items: Written[] = []
      while (tokens[at] !== ']') {
        const item = read(depth + 1)
        if (!item) return undefined
        items.push(item)
      }
      at++
      return { kind: 'list', items }
    }
    if (token === '{') {
      const entries: { name: string; value: Written }[] = []
      while (tokens[at] !== '}') {
        const name = JSON.parse(tokens[at++] ?? '') as string
        const value = read(depth + 1)
        if (!value) return undefined
        entries.push({ name, value })
      }
      at++
      return { kind: 'object', entries }
    }
    return token.startsWith('"') ? { kind: 'text', text: JSON.parse(token) } : { kind: 'plain', text: token }
  }
  return read(0)
}

/** Reports whether an object within the value has a name twice. Receivers differ in which one they take. */
export const repeatsName = (value: Written): boolean => {
  if (value.kind === 'list') return value.items.some(repeatsName)
  if (value.kind !== 'object') return false
  const names = value.entries.map(({ name }) => name)
  return new Set(names).size < names.length || value.entries.some((entry) => repeatsName(entry.value))
}
